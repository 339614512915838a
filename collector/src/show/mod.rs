//! Shows reports to people: on a terminal, as Markdown, and the documentation of a check.
//!
//! It adds no judgement and no number of its own; everything comes from the report or the catalogue.

mod canvas;
mod explain;
mod markdown;
mod terminal;
mod words;

pub(crate) use explain::explain;
pub(crate) use markdown::markdown;
pub(crate) use terminal::{Look, brief, terminal};
