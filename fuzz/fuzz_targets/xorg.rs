//! Any text through the parser of `checks::intake::Kind::Xorg`, whether it looks like that or not.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    checks::intake::read_as(checks::intake::Kind::Xorg, text);
});
