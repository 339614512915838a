//! Gives each GPU on the PCI bus the index that NVML has for it. Without NVML the order of addresses is the index, which
//! is NVML's own order.
//!
//! It does not judge a GPU that NVML leaves out; it names it.

use checks::keys;

use super::pci::{self, PciGpu};
use super::reading::Reading;
use super::root::Root;
use crate::nvml::Inventory;

/// Adds what sysfs says of the GPUs.
pub(crate) fn pci(root: &Root, inventory: Option<&Inventory>, gpus: &[PciGpu], r: &mut Reading) {
    let listed: Vec<(usize, String)> = inventory
        .into_iter()
        .flat_map(|i| &i.gpus)
        .filter_map(|g| Some((g.index, pci::normalise(g.bus_id.as_deref()?))))
        .collect();
    if listed.is_empty() {
        // A GPU that another driver holds on purpose (passed through to a guest) is none of this system's.
        for (index, gpu) in gpus.iter().filter(|g| g.driver.as_deref() != Some("vfio-pci")).enumerate() {
            r.put(&keys::GPU_BUS_ID, &[index], gpu.address.as_str(), "/sys/bus/pci/devices");
            pci::read(root, gpu, index, r);
        }
        return;
    }
    let mut unlisted = Vec::new();
    for gpu in gpus {
        match listed.iter().find(|(_, address)| *address == gpu.address) {
            Some((index, _)) => pci::read(root, gpu, *index, r),
            None => unlisted.push(format!("{} {}", gpu.address, gpu.driver.as_deref().unwrap_or("no driver"))),
        }
    }
    if !unlisted.is_empty() {
        r.put(&keys::PCI_UNLISTED, &[], unlisted, "/sys/bus/pci/devices without NVML's GPUs");
    }
}
