//! Recorded NVML readings: what a real node gave once, as JSON, so that tests and trials need no GPU.
//!
//! It does not know where the file came from.

use std::io::Read;

use checks::record::{GpuSample, SampledGpu};
use serde::Deserialize;

use super::{Inventory, Nvml};

/// An inventory and samples that come again from the start when they are used up.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Recorded {
    inventory: Inventory,
    samples: Vec<Vec<GpuSample>>,
    #[serde(skip)]
    next: usize,
}

impl Recorded {
    /// Reads a recording.
    ///
    /// # Errors
    /// It is not the JSON of one.
    pub(crate) fn read(from: impl Read) -> serde_json::Result<Self> {
        serde_json::from_reader(from)
    }
}

impl Nvml for Recorded {
    fn inventory(&self) -> Inventory {
        self.inventory.clone()
    }

    fn sampled(&self) -> Vec<SampledGpu> {
        let of = |g: &super::Gpu| SampledGpu {
            i: g.index,
            name: g.name.clone(),
            power_limit_w: g.power_limit_mw.map(|mw| f64::from(mw) / 1e3),
        };
        self.inventory.gpus.iter().map(of).collect()
    }

    fn sample(&mut self) -> Vec<GpuSample> {
        if self.samples.is_empty() {
            return Vec::new();
        }
        self.next += 1;
        self.samples[(self.next - 1) % self.samples.len()].clone()
    }
}
