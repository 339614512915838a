//! The reference tables: each row has a source and a date, and each file reads as the type that it is.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use checks::tables::{self, Class, FILES, Grade, Table};

#[test]
fn every_row_has_a_source_and_a_date() {
    for (name, text) in FILES {
        let t = Table::read(text);
        assert!(!t.rows.is_empty(), "{name} is empty");
        assert!(t.source.len() > 10, "{name} has no source");
        let day: Vec<&str> = t.date.split('-').collect();
        assert!(day.len() == 3 && day.iter().all(|d| d.parse::<u32>().is_ok()), "{name} has no date");
        let mut keys = BTreeSet::new();
        for row in &t.rows {
            assert_eq!(row.len(), t.columns.len(), "{name}: {row:?}");
            assert!(keys.insert(row[0]), "{name}: {} stands twice", row[0]);
            if t.columns.contains(&"source") {
                assert!(t.cell(row, "source").len() > 5, "{name}: {} has no source", row[0]);
            }
        }
    }
}

/// No data file is forgotten in the list that the test above reads.
#[test]
fn every_file_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for e in std::fs::read_dir(folder).unwrap() {
        let name = e.unwrap().file_name().into_string().unwrap();
        assert!(FILES.iter().any(|(n, _)| *n == name), "{name} is not in tables::FILES");
    }
}

#[test]
fn the_xid_catalogue_has_every_code_from_1_to_176_once() {
    let codes: Vec<u32> = tables::xids().map(|(c, _)| c).collect();
    let distinct: BTreeSet<u32> = codes.iter().copied().collect();
    assert_eq!(codes.len(), distinct.len(), "a code stands in two rows");
    let missing: Vec<u32> = (1..=176).filter(|c| !distinct.contains(c)).collect();
    assert!(missing.is_empty(), "no entry for {missing:?}");
    for (code, x) in tables::xids() {
        assert!(!x.name.is_empty() && x.meaning.ends_with('.') && x.action.ends_with('.'), "{code}");
    }
}

/// The grades that the rules of the plan fix.
#[test]
fn xid_grades() {
    let grade = |c| tables::xid(c).unwrap().grade;
    for c in [46, 48, 54, 62, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 143, 155, 158] {
        assert_eq!(grade(c), Grade::Fail, "{c}");
    }
    for c in [63, 92, 94, 121] {
        assert_eq!(grade(c), Grade::Warn, "{c}");
    }
    for c in [13, 31, 32, 68] {
        assert_eq!(grade(c), Grade::Repeat, "{c}");
    }
    for c in [43, 45, 106, 107] {
        assert_eq!(grade(c), Grade::Info, "{c}");
    }
    assert!((144..=150).chain([154]).all(|c| grade(c) == Grade::Text));
    assert!(tables::xid(45).unwrap().follows && tables::xid(43).unwrap().follows && !tables::xid(79).unwrap().follows);
    assert!(tables::xid(999).is_none());
}

#[test]
fn clock_event_bits() {
    assert_eq!(tables::clock_event_ids(0x4 | 0x20).collect::<Vec<_>>(), ["sw_power_cap", "sw_thermal_slowdown"]);
    assert_eq!(tables::clock_event_ids(0).count(), 0);
    assert_eq!(tables::clock_event("hw_power_brake_slowdown").unwrap().bit, 0x80);
    assert_eq!(tables::clock_events().len(), 9);
}

#[test]
fn link_rates() {
    assert_eq!(tables::gen_of_gts(32.0), Some(5));
    assert_eq!(tables::gen_of_gts(7.0), None);
    let r = tables::link_gb_s(5, 16).unwrap() / tables::link_gb_s(4, 8).unwrap();
    assert!((r - 4.0).abs() < 0.01, "gen 5 x16 is four times gen 4 x8, not {r}");
    assert_eq!(tables::pcie_rates().len(), 6);
}

#[test]
fn cuda_and_its_drivers() {
    assert_eq!(tables::toolkit((12, 4)).unwrap().bundled, "550.54.14");
    assert!(tables::toolkit((12, 7)).is_none(), "there was no such toolkit");
    assert_eq!(tables::family_floor(12, false), Some("525.60.13"));
    assert_eq!(tables::family_floor(13, true), None);
    let name = |cc| tables::architecture(cc).map(|a| a.name);
    assert_eq!(name((8, 7)), Some("Ampere (consumer)"));
    assert_eq!(name((8, 9)), Some("Ada"));
    assert_eq!(name((12, 1)), Some("Blackwell (consumer)"));
    assert_eq!(name((6, 1)), Some("Pascal"));
    assert_eq!(name((13, 0)), None);
    assert_eq!(tables::architecture((7, 0)).unwrap().last_driver, Some(580));
    assert_eq!(tables::capability("NVIDIA A100-SXM4-80GB"), Some((8, 0)));
    assert_eq!(tables::capability("NVIDIA GeForce RTX 5090 Laptop GPU"), Some((12, 0)));
    assert_eq!(tables::capability("NVIDIA Something 9"), None);
}

#[test]
fn models_by_name() {
    let native = |n: &str| tables::model(n).map(|m| (m.name, m.native_gen, m.native_width));
    assert_eq!(native("NVIDIA A100-SXM4-80GB"), Some(("A100", Some(4), Some(16))));
    assert_eq!(native("Tesla T4"), Some(("T4", Some(3), Some(16))));
    assert_eq!(native("NVIDIA GeForce RTX 4060 Ti"), Some(("RTX 4060", Some(4), Some(8))));
    assert_eq!(native("GA100 [A100 PCIe 40GB]"), Some(("A100", Some(4), Some(16))));
    assert_eq!(native("NVIDIA RTX 6000 Ada Generation"), Some(("RTX 6000 Ada", Some(4), Some(16))));
    assert_eq!(native("Quadro RTX 6000"), Some(("Quadro RTX 6000", Some(3), Some(16))));
    assert_eq!(native("NVIDIA GeForce RTX 4060 Laptop GPU"), None, "a laptop board is another board");
    assert_eq!(native("NVIDIA Something 9"), None);
    assert_eq!(tables::class("NVIDIA GeForce RTX 4090"), Some(Class::GeForce));
    assert_eq!(tables::class("NVIDIA GH200 480GB"), Some(Class::Grace));
    assert_eq!(tables::class("Quadro P2000"), Some(Class::Workstation));
    assert_eq!(tables::class("Orin (nvgpu)"), Some(Class::Soc));
    assert_eq!(tables::class(""), None);
    for laptop in [
        "NVIDIA GeForce RTX 4070 Laptop GPU",
        "Quadro P3200 Mobile",
        "GeForce GTX 850M",
        "Quadro K2100M (GK106GL)",
        "GeForce GTX 1070 with Max-Q Design",
        "GeForce MX150",
        "GeForce GT 650M",
    ] {
        assert!(tables::is_laptop(laptop), "{laptop}");
    }
    for board in [
        "NVIDIA H100 80GB HBM3",
        "Tesla V100-SXM2-32GB",
        "Tesla K40m",
        "NVIDIA GeForce GTX 1660 Ti",
        "Tesla P100-PCIE-16GB",
    ] {
        assert!(!tables::is_laptop(board), "{board}");
    }
}
