//! Pastes: several outputs below each other, quoted, fenced, indented, coloured; line numbers stay those of the paste.

use checks::Intake;
use checks::intake::part_text;

use crate::common::{Read, read};

const XID: &str = "[   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=77, name=python3, GPU has fallen off the bus.";
const LSPCI: &str = "3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n\
    \tNUMA node: 1\n\
    \tCapabilities: [78] Express (v2) Endpoint, MSI 00\n\
    \t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n\
    \t\tLnkSta:\tSpeed 16GT/s, Width x8 (downgraded)\n\
    \tKernel driver in use: nvidia\n";
const ENV: &str = "PyTorch version: 2.1.0+cu121\nCUDA used to build PyTorch: 12.1\nIs CUDA available: True\n";

/// The line of the whole text that a fact was read from.
fn line_of<'t>(text: &'t str, r: &Read, path: &str) -> &'t str {
    let (input, line, _) = r.place(path).unwrap_or_else(|| panic!("{path} was not read"));
    let first = r.inputs[input as usize].first_line;
    text.lines().nth((first + line.unwrap() - 2) as usize).unwrap()
}

#[test]
fn outputs_below_each_other_with_prompts() {
    let text = format!(
        "Hi all,\nmy GPUs are slow,\nsee below.\n\nuser@gpu-07:~$ dmesg | tail -1\n{XID}\nuser@gpu-07:~$ sudo lspci -vv -s 3b:00.0\n{LSPCI}\
         user@gpu-07:~$ python -m torch.utils.collect_env\n{ENV}(base) user@gpu-07:~$ \nThanks!\n"
    );
    let r = read("paste", &text);
    assert_eq!(r.kinds(), ["dmesg", "lspci", "collect_env"]);
    assert_eq!(r.inputs[1].name, "paste → sudo lspci -vv -s 3b:00.0");
    assert_eq!(line_of(&text, &r, "xids"), XID);
    assert_eq!(
        line_of(&text, &r, "gpu[0].pcie.link_width_current").trim(),
        "LnkSta:\tSpeed 16GT/s, Width x8 (downgraded)"
    );
    assert_eq!(line_of(&text, &r, "torch"), "PyTorch version: 2.1.0+cu121");
    assert!(r.notes().contains("lines 1-3, line 19"), "prose is named: {}", r.notes());
}

#[test]
fn outputs_below_each_other_without_prompts() {
    let text = format!("{ENV}\n{LSPCI}\n{XID}\n{XID}\n");
    let r = read("paste", &text);
    assert_eq!(r.kinds(), ["collect_env", "lspci", "dmesg"]);
    assert_eq!(line_of(&text, &r, "xids"), XID);
    assert_eq!(r.facts.kernel.len(), 2);
}

#[test]
fn wrapped_in_every_way() {
    let plain = format!("{LSPCI}{XID}\n");
    let want = |r: &Read| {
        assert_eq!(r.text("gpu[0].pcie.link_width_current").as_deref(), Some("8"));
        assert_eq!(r.text("gpu[0].numa_node").as_deref(), Some("1"));
        assert_eq!(r.text("xids").as_deref(), Some("79"));
        assert_eq!(r.kinds(), ["lspci", "dmesg"]);
    };
    let each = |f: &dyn Fn(&str) -> String| plain.lines().map(|l| f(l) + "\n").collect::<String>();
    for (how, text) in [
        ("plain", plain.clone()),
        ("mail", each(&|l| format!("> {l}"))),
        ("mail twice", each(&|l| format!("> > {l}"))),
        ("mail without blank", each(&|l| format!(">{l}"))),
        ("template", each(&|l| format!("        {l}"))),
        ("fence", format!("### Logs\n```shell\n{plain}```\n")),
        ("html", format!("<details>\n<pre>\n{}</pre>\n", plain.replace('<', "&lt;").replace("'", "&#39;"))),
        ("nbsp", plain.replace(' ', "\u{a0}")),
        ("crlf", plain.replace('\n', "\r\n")),
        ("colour", each(&|l| format!("\u{1b}[32m{l}\u{1b}[0m"))),
        ("bom", format!("\u{feff}{plain}")),
    ] {
        let r = read(how, &text);
        want(&r);
        assert!(line_of(&text, &r, "xids").contains("Xid"), "{how}: the line is kept");
    }
}

#[test]
fn one_output_with_a_little_around_it_keeps_the_lines_of_the_file() {
    let r = read("x", format!("$ dmesg\n{XID}\n"));
    assert_eq!(r.inputs[0].first_line, 1);
    assert_eq!(r.place("xids").unwrap().1, Some(2));
    assert_eq!(r.text("kernel_log.lines").as_deref(), Some("1"));
    assert_eq!(r.notes(), "");
}

#[test]
fn the_text_of_a_part_can_be_had_back() {
    let text = format!("intro\n\nline\n\n$ dmesg\n{XID}\n$ lspci -vv\n{LSPCI}");
    assert_eq!(part_text(text.as_bytes(), 0), Some(format!("{XID}\n")));
    assert_eq!(part_text(text.as_bytes(), 1).as_deref(), Some(LSPCI));
    assert_eq!(part_text(text.as_bytes(), 2), None);
    let snapshot = serde_json::json!({"v": 1, "kind": "snapshot", "raw": [{"name": "dmesg", "text": XID}]}).to_string();
    assert_eq!(part_text(snapshot.as_bytes(), 0).as_deref(), Some(snapshot.as_str()));
    assert_eq!(part_text(snapshot.as_bytes(), 1).as_deref(), Some(XID));
}

#[test]
fn an_environment_keeps_its_secrets() {
    let text = "$ env\nPATH=/usr/bin\nHOME=/root\nCUDA_VISIBLE_DEVICES=0,1\nNCCL_IB_DISABLE=1\nHF_TOKEN=abc\nNVIDIA_API_KEY=xyz\nAWS_SECRET_ACCESS_KEY=s\n";
    let r = read("x", text);
    assert_eq!(r.kinds(), ["env"]);
    let facts: Vec<&str> = r.facts.iter().map(|(p, _)| p).collect();
    assert_eq!(facts, ["env.CUDA_VISIBLE_DEVICES", "env.NCCL_IB_DISABLE"]);
    // As the kernel has it.
    let r = read("environ", "PATH=/usr/bin\0HOME=/root\0CUDA_VISIBLE_DEVICES=\0CUDA_LAUNCH_BLOCKING=1\0LANG=C\0");
    assert_eq!(r.kinds(), ["env"]);
    assert_eq!(r.text("env.CUDA_VISIBLE_DEVICES").as_deref(), Some(""), "set, and empty");
    assert_eq!(r.text("env.CUDA_LAUNCH_BLOCKING").as_deref(), Some("1"));
}

#[test]
fn lists_of_modules() {
    use std::fmt::Write as _;
    let r = read(
        "m",
        "nvidia_uvm 1830912 - - Live 0xffffffffc080c000 (O)\nnvidia 14299136 - - Live 0xffffffffc0400000 (O)\n",
    );
    assert_eq!(r.kinds(), ["proc-modules"]);
    assert_eq!(r.text("module.nvidia_uvm").as_deref(), Some("yes"));
    assert_eq!(r.value("module.nouveau"), None, "a short list is a filtered one");
    let mut list = "Module                  Size  Used by\n".to_owned();
    for i in 0..30 {
        writeln!(list, "mod_{i}  16384  {i}").unwrap();
    }
    list.push_str("nouveau  2306048  1 mod_1\n");
    let r = read("m", &list);
    assert_eq!(r.text("module.nvidia").as_deref(), Some("no"));
    assert_eq!(r.text("module.nouveau").as_deref(), Some("yes"));
}

#[test]
fn two_files_of_one_node_join() {
    let mut intake = Intake::new();
    intake.add("syslog", "Feb 23 16:24:18 gpu-07 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n".as_bytes());
    intake.add("env", ENV.as_bytes());
    let (inputs, subjects) = intake.finish();
    assert_eq!((inputs.len(), subjects.len()), (2, 1));
    assert_eq!(subjects[0].id.node.as_deref(), Some("gpu-07"));
    assert_eq!(inputs[1].file, 1);
}
