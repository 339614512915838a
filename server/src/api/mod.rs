//! The JSON API, one file a resource. Handlers translate between HTTP and store; they hold no SQL and no rules of checks.

pub mod nodes;
pub mod probes;
pub mod reports;
pub mod runs;
pub mod snapshots;
pub mod uploads;

use axum::http::StatusCode;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::clock::parse_id;
use crate::problem::Problem;

/// Most items of a list page.
const PAGE_MAX: u32 = 500;
/// Items of a list page where the request does not say.
const PAGE: u32 = 50;

/// What stands unescaped in a path segment: letters, digits and the unreserved marks of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct PageQuery {
    /// `next` of the page before.
    pub cursor: Option<String>,
    /// Items, at most 500.
    pub limit: Option<u32>,
    /// Only items of this node, where the list knows nodes.
    pub node: Option<String>,
}

impl PageQuery {
    fn limit(&self) -> u32 {
        self.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Serialize)]
pub struct Page<T> {
    /// Items.
    pub items: Vec<T>,
    /// Cursor of the next page, `null` at the end.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page of up to `limit` items out of one more than that.
    fn of(mut items: Vec<T>, limit: u32, cursor: impl Fn(&T) -> String) -> Self {
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = items.last().filter(|_| more).map(cursor);
        Self { items, next }
    }
}

/// The canonical form of an id, or a problem that says that there is no such thing.
fn id_of(what: &str, text: &str) -> Result<String, Problem> {
    parse_id(text).ok_or_else(|| Problem::not_found(what, text))
}

/// 201 for what is new, 200 for what was known.
const fn created(new: bool) -> StatusCode {
    if new { StatusCode::CREATED } else { StatusCode::OK }
}

/// A name as a path segment.
fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// 400: a cursor that no page gave.
fn bad_cursor() -> Problem {
    Problem::bad_request("The cursor is not one that this list gave.", "Start again without a cursor.")
}
