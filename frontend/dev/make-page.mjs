// Pages to look at:  node dev/make-page.mjs [FOLDER]  writes all of them, with the front end as it is now.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundle } from "../build.mjs";
import { fillPage, writePage } from "./page.mjs";
import { hostile, large, reduced, ring, surface, weighed, withoutFunctions } from "./problems.mjs";

const PAGES = {
  ring: () => ring(),
  weighed: () => weighed(),
  middle: () => large(5_000, 10, 2, true),
  space: () => large(3_000, 6, 3),
  large: () => large(50_000, 10),
  surface: () => surface(),
  hostile: () => hostile(),
  plain: () => withoutFunctions(),
  reduced: () => reduced(),
};

/** Pages that must not be blank. */
const DAMAGED = {
  "damaged-json": () => ({ headerText: '{"format": "cotherm-viewer", "version": 1, ', base64: "" }),
  "damaged-blocks": () => {
    const { header, blocks } = ring();
    return { headerText: JSON.stringify({ ...header, blocks: blocks.table }), base64: blocks.base64().slice(0, 200) };
  },
  "damaged-shape": () => {
    const { header, blocks } = ring();
    header.views[0].n = 61;
    return { headerText: JSON.stringify({ ...header, blocks: blocks.table }), base64: blocks.base64() };
  },
};

export async function makePages(folder, names = [...Object.keys(PAGES), ...Object.keys(DAMAGED)]) {
  const assets = await bundle();
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    const text = PAGES[name]
      ? (({ header, blocks }) => writePage(header, blocks, assets))(PAGES[name]())
      : fillPage({ title: name, ...DAMAGED[name](), ...assets });
    await writeFile(join(folder, `${name}.html`), text);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  await makePages(process.argv[2] ?? "out/pages", process.argv.length > 3 ? process.argv.slice(3) : undefined);
