// Runs the tests of a folder:  node tests/run.mjs unit|browser [PART OF A FILE'S NAME]
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, wanted = ""] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../out/tests", folder);

const files = (await readdir(join(here, folder))).filter((name) => name.endsWith(".test.ts") && name.includes(wanted));
if (files.length === 0) throw new Error(`no tests in ${folder}`);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  entryPoints: files.map((name) => join(here, folder, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  sourcemap: "inline",
  logLevel: "error",
});
const child = spawn(process.execPath, ["--enable-source-maps", "--test", "--test-concurrency=1", ...files.map((name) => join(out, name.replace(/\.ts$/, ".mjs")))], { stdio: "inherit", cwd: join(here, "..") });
child.on("exit", (code) => process.exit(code ?? 1));
