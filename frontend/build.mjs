// Builds the viewer into the package: one script, one style sheet, and the licenses of what is in them.
import { build } from "esbuild";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const HERE = dirname(fileURLToPath(import.meta.url));
const ASSETS = join(HERE, "../src/cotherm/viewer/assets");
const OPTIONS = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  write: false,
  metafile: true,
  legalComments: "none",
  charset: "utf8",
  absWorkingDir: HERE,
};

/** `import code from "worker-code"`: the worker's bundle as a string, since a page from disk cannot load a second file. */
const workerCode = {
  name: "worker-code",
  setup(builder) {
    builder.onResolve({ filter: /^worker-code$/ }, () => ({ path: "worker-code", namespace: "worker-code" }));
    builder.onLoad({ filter: /.*/, namespace: "worker-code" }, async () => {
      const made = await build({ ...OPTIONS, entryPoints: ["src/heat/worker.ts"] });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

export async function bundle() {
  const script = await build({ ...OPTIONS, entryPoints: ["src/main.ts"], plugins: [workerCode] });
  const style = await build({ ...OPTIONS, entryPoints: ["src/style.css"], metafile: false });
  return { js: script.outputFiles[0].text, css: style.outputFiles[0].text, packages: packagesOf(script.metafile) };
}

/** Names of the packages that a bundle holds parts of. */
function packagesOf({ inputs }) {
  const names = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

async function licenseOf(name) {
  const folder = join(HERE, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  return `${name} ${version} (${license})\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
}

async function licenses(packages) {
  const parts = await Promise.all(packages.map(licenseOf));
  const maps = "Color maps: viridis and inferno of matplotlib (CC0).\n";
  return ["What is bundled in viewer.js, and its licenses.\n", ...parts, maps].join("\n" + "-".repeat(80) + "\n\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { js, css, packages } = await bundle();
  if (/<\/script/i.test(js) || /<\/style/i.test(css)) throw new Error("the bundle would end the element that it is put into");
  await mkdir(ASSETS, { recursive: true });
  await writeFile(join(ASSETS, "viewer.js"), js);
  await writeFile(join(ASSETS, "viewer.css"), css);
  await writeFile(join(ASSETS, "LICENSES.txt"), await licenses(packages));
  console.log(
    `viewer.js ${(js.length / 1000).toFixed(0)} kB, viewer.css ${(css.length / 1000).toFixed(0)} kB; with ${packages.join(", ")}`,
  );
}
