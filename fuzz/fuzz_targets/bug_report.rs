//! Any text behind the first line of a bug report.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut intake = checks::Intake::new();
    intake.add("nvidia-bug-report.log", format!("Start of NVIDIA bug report log file\n{text}").as_bytes());
    intake.finish();
});
