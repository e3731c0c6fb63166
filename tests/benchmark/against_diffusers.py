#!/usr/bin/env python3
"""Times `parallax generate` against diffusers on the same checkpoint, request, type and threads, in turn, and prints
the ratios. Needs a Python with torch 2.11.0, diffusers 0.42.1, transformers, imageio and imageio-ffmpeg; the program
itself needs no Python.

    python3 tests/benchmark/against_diffusers.py --parallax build/default/bin/parallax [--rounds 3] [--dtype float32]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROMPT = "A red ball bouncing on green grass."
NEGATIVE = "blurry, low quality, noisy, washed out"
REQUEST = dict(width=224, height=128, frames=25, fps=12, steps=16, guidance=3.0, shift=3.0)


def diffusers_worker(model: str, dtype: str, output: str) -> None:
    """What a user would write: load, generate, save. With the model warm, the same call is timed a second time."""
    import torch
    from diffusers import Cosmos3OmniPipeline
    from diffusers.utils import export_to_video

    pipe = Cosmos3OmniPipeline.from_pretrained(model, torch_dtype=getattr(torch, dtype), enable_safety_checker=False)
    pipe.set_progress_bar_config(disable=True)

    def generate():
        begin = time.perf_counter()
        result = pipe(
            prompt=PROMPT, negative_prompt=NEGATIVE, num_frames=REQUEST["frames"], height=REQUEST["height"],
            width=REQUEST["width"], fps=REQUEST["fps"], num_inference_steps=REQUEST["steps"],
            guidance_scale=REQUEST["guidance"], generator=torch.Generator().manual_seed(1), output_type="np",
            enable_safety_check=False)
        return result, time.perf_counter() - begin

    result, _ = generate()
    frames = result.video
    while hasattr(frames, "ndim") and frames.ndim > 4 or isinstance(frames, list) and len(frames) == 1:
        frames = frames[0]
    export_to_video(list(frames), output, fps=REQUEST["fps"])
    print(json.dumps({"command_end": time.time()}), flush=True)
    if os.environ.get("TIME_WARM"):
        print(json.dumps({"warm_seconds": generate()[1]}), flush=True)


def run_diffusers(model: str, dtype: str, folder: str) -> dict:
    begin = time.time()
    process = subprocess.run(
        [sys.executable, __file__, "--worker", "--model", model, "--dtype", dtype, "--output", f"{folder}/diffusers.mp4"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "TIME_WARM": "1"}, text=True)
    rows = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    return {"command": rows[0]["command_end"] - begin, "denoise_decode": rows[1]["warm_seconds"]}


def run_parallax(program: str, model: str, dtype: str, folder: str) -> dict:
    begin = time.time()
    process = subprocess.run(
        [program, "generate", "--model", model, "--prompt", PROMPT, "--negative-prompt", NEGATIVE, "--size",
         f"{REQUEST['width']}x{REQUEST['height']}", "--frames", str(REQUEST["frames"]), "--fps", str(REQUEST["fps"]),
         "--steps", str(REQUEST["steps"]), "--guidance-scale", str(REQUEST["guidance"]), "--flow-shift",
         str(REQUEST["shift"]), "--seed", "1", "--dtype", dtype, "--device", "cpu", "--output",
         f"{folder}/parallax.mp4", "--overwrite", "--quiet", "--json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    command = time.time() - begin
    seconds = {phase["name"]: phase["seconds"] for phase in json.loads(process.stdout)["phases"]}
    # Reading the prompts belongs to it: diffusers does that inside its steps.
    return {"command": command, "denoise_decode": seconds["text"] + seconds["denoise"] + seconds["decode"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--parallax", default=f"{root}/build/default/bin/parallax")
    parser.add_argument("--model", default=f"{root}/resources/demo-world/checkpoint")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        diffusers_worker(options.model, options.dtype, options.output)
        return
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            ours.append(run_parallax(options.parallax, options.model, options.dtype, folder))
            theirs.append(run_diffusers(options.model, options.dtype, folder))
            print(f"round {number + 1}: parallax {ours[-1]}, diffusers {theirs[-1]}", flush=True)
    for key, name in (("denoise_decode", "denoising plus decoding"), ("command", "whole command")):
        a = statistics.median(row[key] for row in ours)
        b = statistics.median(row[key] for row in theirs)
        print(f"{name}: parallax {a:.2f} s, diffusers {b:.2f} s, ratio {b / a:.2f}")


if __name__ == "__main__":
    main()
