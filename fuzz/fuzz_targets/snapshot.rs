//! Any text as what a snapshot carries, and as the snapshot itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut intake = checks::Intake::new();
    intake.add("snapshot.json", format!("{{\"v\":1,\"kind\":\"snapshot\",{text}").as_bytes());
    intake.finish();
});
