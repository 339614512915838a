//! What must hold for the catalogue as a whole.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use checks::catalogue::{self, Docs};
use checks::{Facts, Layer, Level, Settings, evaluate};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn ids_are_their_layer_and_file_name() {
    let mut seen = BTreeSet::new();
    for c in catalogue::all() {
        assert!(seen.insert(c.id), "{} stands twice", c.id);
        let (layer, slug) = c.id.split_once('/').unwrap();
        assert_eq!(layer, c.layer.id(), "{}", c.id);
        let file = here(&format!("src/catalogue/{layer}/{}.rs", slug.replace('-', "_")));
        assert!(file.exists(), "{} is not in {}", c.id, file.display());
        assert!(here(&format!("cases/{layer}/{slug}.md")).exists(), "{} has no case file", c.id);
    }
}

/// Stored reports and links use the ids, so the list of all of them is fixed: a check takes its id from it.
#[test]
fn ids_are_stable() {
    let text = fs::read_to_string(here("tests/ids.txt")).unwrap();
    let known: BTreeSet<&str> = text.lines().filter(|l| !l.is_empty()).collect();
    for c in catalogue::all() {
        assert!(known.contains(c.id), "{} is not an id of the catalogue (tests/ids.txt)", c.id);
    }
}

#[test]
fn the_list_is_fresh() {
    let mut want = Vec::new();
    for layer in Layer::ALL {
        let Ok(folder) = fs::read_dir(here("src/catalogue").join(layer.id())) else { continue };
        let mut slugs: Vec<String> = folder
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|x| x == "rs"))
            .map(|p| format!("{}/{}", layer.id(), p.file_stem().unwrap().to_str().unwrap().replace('_', "-")))
            .collect();
        slugs.sort_unstable();
        want.extend(slugs);
    }
    let have: Vec<&str> = catalogue::all().iter().map(|c| c.id).collect();
    assert_eq!(have, want, "run `cargo xtask codegen`");
}

#[test]
fn every_check_is_documented() {
    for e in catalogue::entries() {
        let (c, docs) = (e.check, e.docs());
        let headings: Vec<&str> = docs.parts.iter().map(|(h, _)| h.as_str()).collect();
        assert_eq!(headings, Docs::HEADINGS, "{}", c.id);
        for (heading, text) in &docs.parts {
            assert!(text.len() >= 20, "{}: {heading} says nothing", c.id);
            assert!(text.ends_with(['.', ')', '`']), "{}: {heading} breaks off", c.id);
        }
        assert!(!c.title.is_empty() && !c.title.ends_with('.'), "{}: a title is a sentence without full stop", c.id);
        assert!(!c.evidence.is_empty(), "{} names no evidence", c.id);
        assert!(c.minutes > 0, "{}", c.id);
    }
}

#[test]
fn every_limit_has_a_source_and_a_name_of_its_own() {
    for c in catalogue::all() {
        let mut names = BTreeSet::new();
        for l in c.limits {
            assert!(l.source.len() >= 10, "{}: {} has no source", c.id, l.name);
            assert!(names.insert(l.name), "{}: {} stands twice", c.id, l.name);
            assert!(l.default.is_finite(), "{}: {}", c.id, l.name);
        }
    }
}

/// At least: found (info, warn or fail), pass, unknown, and a trap: a case that looks like a fault and is none.
#[test]
fn every_check_has_its_cases() {
    for e in catalogue::entries() {
        let (c, cases) = (e.check, e.cases());
        let count =
            |of: &[&str]| cases.iter().filter(|k| k.expect.first().is_some_and(|v| of.contains(&v.trim()))).count();
        assert!(cases.len() >= 4, "{} has {} cases", c.id, cases.len());
        assert!(count(&["fail", "warn", "info"]) >= 1, "{} has no case that finds something", c.id);
        assert!(count(&["pass"]) >= 1, "{} has no case that passes", c.id);
        assert!(count(&["unknown"]) >= 1, "{} has no case without evidence", c.id);
        assert!(count(&["pass", "info", "not-applicable", "unknown"]) >= 3, "{} has no false-alarm trap", c.id);
        let titles: BTreeSet<&str> = cases.iter().map(|k| k.title.as_str()).collect();
        assert_eq!(titles.len(), cases.len(), "{}: two cases of one name", c.id);
        assert!(cases.iter().all(|k| !k.why.is_empty()), "{}: a case does not say why it is there", c.id);
    }
}

#[test]
fn no_facts_give_only_unknown_and_not_applicable() {
    let report = evaluate(&Facts::default(), &Settings::default());
    for f in &report.findings {
        assert!(matches!(f.verdict, Level::Unknown | Level::NotApplicable), "{} says {:?}", f.id, f.verdict);
        assert!(f.message.starts_with("Cannot say yet") || f.verdict == Level::NotApplicable, "{}", f.message);
    }
    assert!(report.layers.iter().all(|l| l.measured == 0));
    assert_eq!(report.headline.text, "Nothing could be read.");
    assert_eq!(report.worst(), Level::Unknown);
}

/// The plan lists every id; it stands beside the project and not in it.
#[test]
fn every_id_is_in_the_plan() {
    let Ok(plan) = fs::read_to_string(here("../../shared/catalogue.md")) else { return };
    for c in catalogue::all() {
        let row = plan.lines().find(|l| l.contains(&format!("`{}`", c.layer.id()))).unwrap();
        let listed = row.split(" · ").flat_map(|s| s.split(" | ")).any(|s| {
            let name = s.trim().trim_start_matches("**");
            name.strip_prefix(c.slug()).is_some_and(|rest| rest.starts_with(['*', ' ']))
        });
        assert!(listed, "{} is not in the plan", c.id);
        let core = row.contains(&format!("**{}**", c.slug()));
        assert_eq!(c.core, core, "{}: core in the plan is {core}", c.id);
    }
}
