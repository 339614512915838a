//! What of the node list is shown: search, filters, order and page, all in the URL, so that a view can be sent to a
//! colleague. It works on rows that are already read and knows no markup.

use std::cmp::Ordering;

use checks::{Level, Summary};
use leptos_router::params::ParamsMap;

use crate::backend::{NodeRow, RunRow};
use crate::parts::words::gravity;

/// A run that began longer before the last snapshot than this says nothing about the node as it is.
const RUN_COUNTS_MS: i64 = 24 * 3_600_000;
/// Not seen for this long: the filter "not seen for 1 h".
pub(super) const OLD_MS: i64 = 3_600_000;
/// Not seen for this long: the row fades.
pub(crate) const STALE_MS: i64 = 24 * 3_600_000;
/// Utilisation above SM active by more than this many points is "busy but empty".
pub(super) const EMPTY_GAP_PCT: f64 = 40.0;
/// Rows a page.
pub(super) const ROWS: [usize; 3] = [50, 100, 200];

/// One node as the list shows it: its last snapshot and, if recent, its latest run.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) seen_ms: i64,
    pub(super) gpus: String,
    pub(super) levels: [Level; 6],
    pub(super) worst: Level,
    pub(super) util: Option<f64>,
    pub(super) sm: Option<f64>,
    pub(super) says: String,
    /// The run that the sentence is about, if it is not the node's own.
    pub(super) run: Option<(String, String)>,
    pub(super) gain: Option<f64>,
    search: String,
}

impl Row {
    pub(super) fn new(node: NodeRow) -> Self {
        let own = &node.summary;
        let run = recent(node.seen_ms, node.run.as_ref());
        let by_run = leading_run(node.seen_ms, own, run);
        let ran = run.map(|r| &r.summary);
        let lead = by_run.map_or(own, |r| &r.summary);
        let work = ran.and_then(|r| r.work.as_ref()).or(own.work.as_ref());
        let mut levels = levels(own);
        for (mine, its) in levels.iter_mut().zip(ran.map(self::levels).into_iter().flatten()) {
            if gravity(its) > gravity(*mine) {
                *mine = its;
            }
        }
        let gpus = node.gpus.clone().unwrap_or_default();
        let says = lead.headline.text.clone();
        let driver = node.driver.clone().unwrap_or_default();
        Self {
            search: format!("{} {gpus} {driver} {says}", node.name).to_lowercase(),
            name: node.name.clone(),
            seen_ms: node.seen_ms,
            gpus,
            levels,
            worst: lead.worst,
            util: work.and_then(|w| w.util_pct),
            sm: work.and_then(|w| w.sm_pct),
            says,
            run: by_run.map(|r| (r.id.clone(), r.name.clone())),
            gain: lead.headline.recoverable_share.filter(|s| *s > 0.0),
        }
    }

    /// Busy by utilisation, but with far fewer SMs at work.
    pub(super) fn busy_but_empty(&self) -> bool {
        matches!((self.util, self.sm), (Some(u), Some(s)) if u - s > EMPTY_GAP_PCT)
    }
}

fn recent(seen_ms: i64, run: Option<&RunRow>) -> Option<&RunRow> {
    run.filter(|r| r.started_ms >= seen_ms - RUN_COUNTS_MS)
}

/// The latest run, if it is recent and its report is graver than the node's own, or as grave with more to win: then it
/// speaks for the node.
pub(crate) fn leading_run<'a>(seen_ms: i64, own: &Summary, run: Option<&'a RunRow>) -> Option<&'a RunRow> {
    let run = recent(seen_ms, run)?;
    let gain = |s: &Summary| s.headline.recoverable_share.unwrap_or(0.0);
    let leads = match gravity(run.summary.worst).cmp(&gravity(own.worst)) {
        Ordering::Greater => true,
        Ordering::Less => false,
        Ordering::Equal => gain(&run.summary) > gain(own),
    };
    leads.then_some(run)
}

fn levels(s: &Summary) -> [Level; 6] {
    let mut out = [Level::Unknown; 6];
    for l in &s.layers {
        out[l.id.number() - 1] = l.status;
    }
    out
}

/// Column that the list is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    Name,
    Seen,
    Sm,
    #[default]
    Verdict,
    Gpus,
    Gain,
}

impl Sort {
    pub(super) const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Verdict, "verdict", "verdict, worst first"),
        (Self::Gain, "gain", "at most"),
        (Self::Sm, "sm", "SM active"),
        (Self::Seen, "seen", "last seen"),
        (Self::Name, "name", "name"),
        (Self::Gpus, "gpus", "GPUs"),
    ];

    pub(super) fn id(self) -> &'static str {
        Self::ALL.iter().find(|(s, ..)| *s == self).map_or("verdict", |(_, id, _)| id)
    }

    fn compare(self, a: &Row, b: &Row) -> Ordering {
        let last = |v: Option<f64>| v.unwrap_or(f64::NEG_INFINITY);
        match self {
            Self::Name => a.name.cmp(&b.name),
            Self::Seen => b.seen_ms.cmp(&a.seen_ms),
            Self::Sm => last(b.sm).total_cmp(&last(a.sm)),
            Self::Gpus => a.gpus.cmp(&b.gpus),
            Self::Gain => last(b.gain).total_cmp(&last(a.gain)),
            Self::Verdict => {
                gravity(b.worst).cmp(&gravity(a.worst)).then_with(|| last(b.gain).total_cmp(&last(a.gain)))
            }
        }
    }
}

/// Search, filters, order and page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) q: String,
    pub(super) verdicts: Vec<String>,
    pub(super) layers: Vec<usize>,
    pub(super) empty: bool,
    pub(super) old: bool,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) rows: usize,
    pub(super) page: usize,
}

impl Query {
    pub(super) fn read(map: &ParamsMap) -> Self {
        let get = |k: &str| map.get(k).unwrap_or_default();
        let list = |k: &str| get(k).split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let sort = get("sort");
        Self {
            q: get("q").trim().to_owned(),
            verdicts: list("verdict"),
            layers: list("layer").iter().filter_map(|s| s.parse().ok()).filter(|n| (1..=6).contains(n)).collect(),
            empty: get("busy") == "empty",
            old: get("seen") == "old",
            sort: Sort::ALL.iter().find(|(_, id, _)| *id == sort).map(|(s, ..)| *s).unwrap_or_default(),
            reverse: get("dir") == "reverse",
            rows: get("rows").parse().ok().filter(|r| ROWS.contains(r)).unwrap_or(ROWS[0]),
            page: get("page").parse().ok().filter(|p| *p > 0).unwrap_or(1),
        }
    }

    /// The parameters that differ from the plain list.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let layers: Vec<String> = self.layers.iter().map(ToString::to_string).collect();
        let all = [
            ("q", self.q.clone()),
            ("verdict", self.verdicts.join(",")),
            ("layer", layers.join(",")),
            ("busy", if self.empty { "empty".into() } else { String::new() }),
            ("seen", if self.old { "old".into() } else { String::new() }),
            ("sort", if self.sort == Sort::default() { String::new() } else { self.sort.id().into() }),
            ("dir", if self.reverse { "reverse".into() } else { String::new() }),
            ("rows", if self.rows == ROWS[0] { String::new() } else { self.rows.to_string() }),
            ("page", if self.page == 1 { String::new() } else { self.page.to_string() }),
        ];
        all.into_iter().filter(|(_, v)| !v.is_empty()).collect()
    }

    /// The address of this view.
    pub(super) fn href(&self) -> String {
        let mut map = ParamsMap::new();
        for (k, v) in self.pairs() {
            map.insert(k, v);
        }
        format!("/{}", map.to_query_string())
    }

    /// This view with something changed, from its first page.
    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut next = Self { page: 1, ..self.clone() };
        change(&mut next);
        next
    }

    /// True if anything narrows the list.
    pub(super) fn narrows(&self) -> bool {
        !(self.q.is_empty() && self.verdicts.is_empty() && self.layers.is_empty()) || self.empty || self.old
    }

    /// The rows that pass, in order.
    pub(super) fn apply(&self, rows: Vec<Row>, now_ms: i64) -> Vec<Row> {
        let words: Vec<String> = self.q.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let keeps = |r: &Row| {
            words.iter().all(|w| r.search.contains(w))
                && (self.verdicts.is_empty() || self.verdicts.iter().any(|v| v == r.worst.id()))
                && (self.layers.is_empty() || self.layers.iter().any(|n| r.levels[n - 1].is_problem()))
                && (!self.empty || r.busy_but_empty())
                && (!self.old || now_ms - r.seen_ms > OLD_MS)
        };
        let mut out: Vec<Row> = rows.into_iter().filter(keeps).collect();
        out.sort_by(|a, b| {
            let by = self.sort.compare(a, b);
            (if self.reverse { by.reverse() } else { by }).then_with(|| a.name.cmp(&b.name))
        });
        out
    }
}
