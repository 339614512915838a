//! The pieces that pages are made of: one file a component, drawn from a report and nothing else.
//!
//! They read no data of their own; what they show is handed to them.
#![expect(dead_code, reason = "pages of single runs and nodes use the rest")]

pub(crate) mod cmd;
pub(crate) mod duo;
pub(crate) mod ladder;
pub(crate) mod lamp;
pub(crate) mod topbar;
pub(crate) mod verdict;
pub(crate) mod words;
