//! Runs every case of every check: facts and raw inputs as the case file gives them, through the whole evaluation.

mod support;

use checks::catalogue;

#[test]
fn every_case_of_every_check_holds() {
    let mut wrong = Vec::new();
    for entry in catalogue::entries() {
        let id = entry.check.id;
        for case in entry.cases() {
            let mut say = |text: String| wrong.push(format!("{id} · {}: {text}", case.title));
            match support::finding(id, &case) {
                Err(e) => say(e),
                Ok(f) => {
                    let differ = support::differences(&f, &case.expect);
                    if !differ.is_empty() {
                        say(format!("{}\n      says: {} {}", differ.join("; "), f.verdict.id(), f.message));
                    }
                    for m in support::malformed(&f) {
                        say(format!("{m}: {}", f.message));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases do not hold:\n  {}", wrong.len(), wrong.join("\n  "));
}
