//! Any bytes through the whole intake: decompression, archives, seams of pastes, every parser that recognises something.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut intake = checks::Intake::new();
    intake.add("input", bytes);
    let (inputs, subjects) = intake.finish();
    assert!(!inputs.is_empty() && !subjects.is_empty());
    // What cannot be read is said to be so.
    assert!(inputs.iter().all(|i| i.kind != "unknown" || !i.notes.is_empty()));
});
