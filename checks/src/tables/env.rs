//! What is known about single environment variables: those that slow a job down, and names that do nothing.

use std::sync::LazyLock;

use super::Table;

/// What a variable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Costs much time.
    Fail,
    /// Costs time, or hints at a tool that does.
    Warn,
    /// Worth knowing.
    Info,
    /// Nothing: there is no such variable, or none any more.
    Noop,
}

/// Advice on one variable.
#[derive(Debug)]
pub struct EnvAdvice {
    /// Name.
    pub name: &'static str,
    /// Value for which it speaks: `any`, `1` (also true and yes), or the value itself.
    when: &'static str,
    /// What it does.
    pub effect: Effect,
    /// The same in words that follow "…: ".
    pub text: &'static str,
    /// What to use instead.
    pub instead: &'static str,
}

impl EnvAdvice {
    /// True if this advice speaks of the value.
    #[must_use]
    pub fn speaks_of(&self, value: &str) -> bool {
        let value = value.trim();
        match self.when {
            "any" => !value.is_empty(),
            "1" => ["1", "true", "yes", "on"].iter().any(|v| value.eq_ignore_ascii_case(v)),
            other => value.eq_ignore_ascii_case(other),
        }
    }
}

static ADVICE: LazyLock<Vec<EnvAdvice>> = LazyLock::new(|| {
    let table = Table::named("env-advice.tsv");
    let read = |row: &Vec<&'static str>| EnvAdvice {
        name: table.cell(row, "name"),
        when: table.cell(row, "when"),
        effect: match table.cell(row, "grade") {
            "fail" => Effect::Fail,
            "warn" => Effect::Warn,
            "noop" => Effect::Noop,
            _ => Effect::Info,
        },
        text: table.cell(row, "text"),
        instead: table.cell(row, "instead"),
    };
    table.rows.iter().map(read).collect()
});

/// Advice on a variable.
#[must_use]
pub fn env_advice(name: &str) -> Option<&'static EnvAdvice> {
    ADVICE.iter().find(|a| a.name == name)
}

/// Advice on all variables.
#[must_use]
pub fn all_env_advice() -> &'static [EnvAdvice] {
    &ADVICE
}
