import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./machine.js";
import { driftsOf } from "./soak/drift.js";
import { SteadyLoad } from "./soak/load.js";
import { writePage } from "./soak/page.js";
import { type Sample, Subject } from "./soak/subject.js";

// Checks that the server's memory, handles and event-loop delay stay flat under a load whose state does not
// grow. It exits with 1 when one of them rises by more than its bound, or a call fails.
//
//   npm run bench -- soak [--minutes 30]

/** Number of samples, however long the soak runs. */
const SAMPLES = 360;
const EVERY_MS_MIN = 1_000;
/** Minimum duration of a soak whose results are kept. A shorter one only shows that the soak works. */
const WRITTEN_MINUTES_MIN = 30;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes is ${values.minutes}; it must be a number above 0`);

const { samples, calls } = await soak(minutes * 60_000);
const drifts = driftsOf(samples);
for (const { name, unit, median, max, rise, riseMax, flat } of drifts) {
  const [medianText, maxText, riseText, boundText] = [median, max, rise, riseMax].map((value) =>
    value.toFixed(1),
  );
  console.log(
    `${flat ? "flat " : "RISES"} ${name}: median ${medianText} ${unit}, most ${maxText}, rise ${riseText} (bound ${boundText})`,
  );
}
const results = { date: new Date().toISOString().slice(0, 10), machine: machine(), minutes, calls, samples };
if (minutes >= WRITTEN_MINUTES_MIN) writePage(results);
process.exit(drifts.every(({ flat }) => flat) ? 0 : 1);

async function soak(durationMs: number): Promise<{ samples: Sample[]; calls: number }> {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-soak-"));
  const subject = await Subject.start(folder);
  try {
    const load = new SteadyLoad(`http://127.0.0.1:${subject.port}`);
    const running = load.run();
    const samples = await Promise.race([sampled(subject, durationMs), running.then(() => [])]);
    load.stop();
    await running;
    await subject.stop();
    return { samples, calls: load.calls };
  } finally {
    subject.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sampled(subject: Subject, durationMs: number): Promise<Sample[]> {
  const everyMs = Math.max(EVERY_MS_MIN, durationMs / SAMPLES);
  const samples: Sample[] = [];
  for (const endMs = performance.now() + durationMs; performance.now() < endMs; ) {
    await sleep(everyMs);
    samples.push(await subject.sample());
  }
  return samples;
}
