"""The step timings against a stand-in for PyTorch (see fake/torch): what a step is, what is left alone, what goes wrong.

Each test runs a script in a Python of its own, as `sextant run` would. Run with `python -m unittest discover`.
"""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

DATA = """
import time, torch
from torch.utils.data import DataLoader
class Slow:
    def __init__(self, n, s): self.n, self.s = n, s
    def __iter__(self):
        for i in range(self.n):
            time.sleep(self.s); yield i
"""


class Steps(unittest.TestCase):
    def run_script(self, script, flags=(), before=(), **env):
        """Runs a script with the timings on; returns its records by file, and the finished process."""
        with tempfile.TemporaryDirectory() as folder:
            site = os.path.join(folder, "site")
            os.makedirs(site)
            for name in ("sextant", "sextant_steps"):
                os.symlink(os.path.join(ROOT, name), os.path.join(site, name))
            with open(os.path.join(ROOT, "site", "sitecustomize.py")) as source:
                with open(os.path.join(site, "sitecustomize.py"), "w") as copy:
                    copy.write(source.read())
            path = os.pathsep.join([site, *before, os.path.join(HERE, "fake")])
            env = dict(os.environ, SEXTANT_DIR=folder, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", **env)
            done = subprocess.run([sys.executable, *flags, "-c", DATA + textwrap.dedent(script)], env=env,
                                  capture_output=True, text=True, timeout=60)
            files = {}
            for name in sorted(os.listdir(folder)):
                if name.endswith(".jsonl"):
                    with open(os.path.join(folder, name)) as f:
                        files[name] = [json.loads(line) for line in f]
            return files, done

    def one(self, *args, **kwargs):
        files, done = self.run_script(*args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(files), 1, files)
        return next(iter(files.values()))

    def test_a_plain_loop(self):
        records = self.one("""
            loss, opt = torch.Tensor(), torch.optim.SGD()
            for batch in DataLoader(Slow(12, 0.01), num_workers=0, batch_size=4, pin_memory=True):
                time.sleep(0.005); loss.backward(); opt.step()
        """)
        meta, steps = records[0], [r for r in records if r["kind"] == "step"]
        self.assertEqual(meta["kind"], "meta")
        self.assertEqual(meta["torch"], "2.99.0+fake")
        self.assertEqual(meta["loaders"][0]["num_workers"], 0)
        self.assertEqual(meta["loaders"][0]["batch"], 4)
        self.assertEqual(meta["settings"]["matmul_precision"], "highest")
        self.assertEqual([s["i"] for s in steps], list(range(11)), "the first step starts the clock")
        for s in steps:
            self.assertEqual(s["phase"], "train")
            self.assertGreaterEqual(s["data_wait_ms"], 10, s)
            self.assertGreaterEqual(s["step_ms"], s["data_wait_ms"] + s["bwd_host_ms"] + s["opt_host_ms"] + 5, s)
            self.assertGreaterEqual(s["bwd_host_ms"], 2)
            self.assertGreaterEqual(s["opt_host_ms"], 1)
            self.assertNotIn("dry", s, "without a GPU nothing is said of it")
        waits = sum(s["data_wait_ms"] for s in steps)
        span = (steps[-1]["t_ns"] - steps[0]["t_ns"]) / 1e6
        self.assertAlmostEqual(sum(s["step_ms"] for s in steps[1:]), span, delta=0.01)
        self.assertGreater(waits, 11 * 10)

    def test_accumulation_is_one_step(self):
        records = self.one("""
            loss, opt = torch.Tensor(), torch.optim.SGD()
            for i, batch in enumerate(DataLoader(Slow(16, 0.002))):
                loss.backward()
                if i % 4 == 3: opt.step()
        """)
        steps = [r for r in records if r["kind"] == "step"]
        self.assertEqual(len(steps), 3)
        for s in steps:
            self.assertEqual(s["n_micro"], 4)
            self.assertGreaterEqual(s["data_wait_ms"], 8)

    def test_two_optimisers_are_one_step(self):
        records = self.one("""
            a, b = torch.optim.SGD(), torch.optim.SGD()
            for batch in DataLoader(Slow(6, 0.002)):
                a.step(); b.step()
        """)
        self.assertEqual(len([r for r in records if r["kind"] == "step"]), 5)

    def test_a_loop_without_a_loader(self):
        records = self.one("""
            a, b = torch.optim.SGD(), torch.optim.SGD()
            for _ in range(6):
                a.step(); b.step()
        """)
        steps = [r for r in records if r["kind"] == "step"]
        self.assertEqual(len(steps), 5)
        self.assertNotIn("data_wait_ms", steps[0], "no loader was seen: the wait is not known, and not zero")

    def test_evaluation_is_not_training(self):
        records = self.one("""
            loss, opt = torch.Tensor(), torch.optim.SGD()
            train, val = DataLoader(Slow(4, 0.002)), DataLoader(Slow(8, 0.01))
            for epoch in range(3):
                for batch in train:
                    loss.backward(); opt.step()
                for batch in val:
                    time.sleep(0.001)
        """)
        steps = [r for r in records if r["kind"] == "step" and r["phase"] == "train"]
        evals = [r for r in records if r["kind"] == "step" and r["phase"] == "eval"]
        self.assertEqual((len(steps), len(evals)), (11, 2))
        for s in steps:
            self.assertLess(s["data_wait_ms"], 80, s)
            self.assertLess(s["step_ms"], 80, s)
        for e in evals:
            self.assertGreaterEqual(e["data_wait_ms"], 80)
        metas = [r for r in records if r["kind"] == "meta"]
        self.assertEqual(len(metas[-1]["loaders"]), 2)

    def test_a_skipped_optimiser_is_a_step(self):
        records = self.one("""
            scaler, opt = torch.amp.GradScaler(), torch.optim.SGD()
            for i, batch in enumerate(DataLoader(Slow(6, 0.001))):
                scaler.step(opt, skip=i == 3)
        """)
        self.assertEqual([s["skipped"] for s in records if s["kind"] == "step"], [False, False, True, False, False])

    def test_one_line_instead(self):
        records = self.one("""
            import sextant
            for batch in DataLoader(Slow(5, 0.002)):
                sextant.step()
        """)
        self.assertEqual(len([r for r in records if r["kind"] == "step"]), 4)

    def test_ranks_have_their_own_files(self):
        files, done = self.run_script("""
            opt = torch.optim.SGD()
            for _ in range(3): opt.step()
        """, RANK="3", WORLD_SIZE="8", LOCAL_RANK="1", SEXTANT_RUN_ID="r1")
        self.assertEqual(done.returncode, 0, done.stderr)
        name, records = next(iter(files.items()))
        self.assertTrue(name.endswith(".3.jsonl"), name)
        meta = records[0]
        self.assertEqual((meta["rank"], meta["local_rank"], meta["world"], meta["run"]), (3, 1, 8, "r1"))

    def test_processes_that_do_not_train_leave_nothing(self):
        for script in ("", "for b in DataLoader(Slow(3, 0.001)): pass"):
            files, done = self.run_script(script)
            self.assertEqual((files, done.returncode), ({}, 0), done.stderr)

    def test_a_forked_child_is_not_the_parent(self):
        records = self.one("""
            import os
            opt = torch.optim.SGD()
            for _ in range(3): opt.step()
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
            for _ in range(3): opt.step()
        """)
        self.assertEqual([r["i"] for r in records if r["kind"] == "step"], [0, 1, 2, 3, 4])

    def test_an_error_inside_ends_the_timings_and_not_the_training(self):
        records = self.one("""
            from sextant_steps import _hooks
            def broken(*args): raise RuntimeError("as a test asks for")
            opt = torch.optim.SGD()
            for _ in range(3): opt.step()
            _hooks.recorder._mark_end = broken
            for _ in range(3): opt.step()
            print("trained on")
        """)
        self.assertEqual([r["text"] for r in records if r["kind"] == "error"], ["RuntimeError: as a test asks for"])

    def test_another_sitecustomize_still_runs(self):
        with tempfile.TemporaryDirectory() as other:
            with open(os.path.join(other, "sitecustomize.py"), "w") as f:
                f.write("import builtins\nbuiltins.theirs = __file__\n")
            _, done = self.run_script("import sitecustomize\nprint(theirs); print(sitecustomize.__file__)", before=[other])
            expected = os.path.join(other, "sitecustomize.py")
            self.assertEqual(done.stdout.split(), [expected, expected], done.stderr)

    def test_isolated_python_is_left_alone(self):
        files, done = self.run_script("", flags=["-I"])
        self.assertEqual(files, {})
        self.assertIn("No module named 'torch'", done.stderr, "-I also ignores the path of the stand-in")

    def test_the_switch(self):
        files, done = self.run_script("""
            opt = torch.optim.SGD()
            for _ in range(3): opt.step()
        """, SEXTANT_STEPS="0")
        self.assertEqual((files, done.returncode), ({}, 0), done.stderr)

    def test_the_cost_of_a_step(self):
        records = self.one("""
            opt = torch.optim.SGD()
            for batch in DataLoader(Slow(200, 0.0)): opt.step()
        """)
        costs = sorted(r["shim_us"] for r in records if r["kind"] == "step")
        self.assertEqual(len(costs), 199)
        # The lower quartile: on a machine that other work shares, the rest measures that work.
        self.assertLess(costs[len(costs) // 4], 50, "a step costs at most 50 µs")


if __name__ == "__main__":
    unittest.main()
