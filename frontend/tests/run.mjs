// Runs the tests of a folder:  node tests/run.mjs unit|browser [PART OF A FILE'S NAME]
// Those in TypeScript are bundled first, since Node 20 does not read it.
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, wanted = ""] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../out/tests", folder);

async function bundled(files) {
  await rm(out, { recursive: true, force: true });
  const options = { bundle: true, platform: "node", format: "esm", packages: "external", sourcemap: "inline", logLevel: "error" };
  await build({ ...options, entryPoints: files.map((name) => join(here, folder, name)), outdir: out, outExtension: { ".js": ".mjs" } });
  return files.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
}

const files = (await readdir(join(here, folder))).filter((name) => /\.test\.(ts|mjs)$/.test(name) && name.includes(wanted)).sort();
if (files.length === 0) throw new Error(`no tests in ${folder}`);
const typed = files.filter((name) => name.endsWith(".ts"));
const plain = files.filter((name) => name.endsWith(".mjs")).map((name) => join(here, folder, name));
const all = [...(typed.length > 0 ? await bundled(typed) : []), ...plain];
const child = spawn(process.execPath, ["--enable-source-maps", "--test", "--test-concurrency=1", ...all], {
  stdio: "inherit",
  cwd: join(here, ".."),
});
child.on("exit", (code) => process.exit(code ?? 1));
