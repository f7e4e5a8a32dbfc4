// Screenshots:  node dev/shot.mjs PAGE.html OUT.png [--dark] [--size 1280x800] [--hash …] [--do "javascript"]
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const [page, out, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const [width, height] = option("--size", "1280x800").split("x").map(Number);

const browser = await launch();
const tab = await browser.newPage({ viewport: { width, height }, colorScheme: rest.includes("--dark") ? "dark" : "light" });
tab.on("console", (message) => console.log(message.type(), message.text()));
tab.on("pageerror", (error) => console.log("error", error.message));
const begin = Date.now();
await tab.goto(`${pathToFileURL(page).href}#${option("--hash", "")}`);
await tab.evaluate(() => window.cotherm.ready).catch(() => {});
console.log(`ready after ${Date.now() - begin} ms`);
await tab
  .waitForFunction(() => window.cotherm.state().progress >= 1, null, { timeout: 60_000 })
  .catch(() => console.log("heat is not complete"));
console.log(`heat complete after ${Date.now() - begin} ms`);
if (option("--do")) await tab.evaluate(option("--do"));
await tab.waitForTimeout(Number(option("--wait", "1500")));
await tab.screenshot({ path: out });
console.log("errors", JSON.stringify(await tab.evaluate(() => window.cotherm.errors)));
await browser.close();
