// Pages in a real browser, for the tests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "../../dev/chromium.mjs";
import { makePages } from "../../dev/make-page.mjs";

export class Pages {
  async start(names) {
    this.folder = await mkdtemp(join(tmpdir(), "cotherm-"));
    await makePages(this.folder, names);
    this.browser = await launch();
  }

  async stop() {
    await this.browser.close();
    await rm(this.folder, { recursive: true });
  }

  /** Opens a page from disk and waits for its heat. Whatever it says on the console or asks of the network is kept in `complaints`. */
  async open(name, { hash = "", wait = true, ...options } = {}) {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
    page.complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()));
    page.on("pageerror", (error) => page.complaints.push(error.message));
    page.on("request", (request) => /^(https?|wss?):/.test(request.url()) && page.complaints.push(`asks for ${request.url()}`));
    page.on("dialog", (dialog) => (page.complaints.push(`dialog ${dialog.message()}`), dialog.dismiss()));
    await page.goto(pathToFileURL(join(this.folder, `${name}.html`)).href + hash);
    if (!wait) return page;
    await page.evaluate(() => window.cotherm.ready);
    await heated(page);
    return page;
  }
}

export const heated = (page) => page.waitForFunction(() => window.cotherm.state().progress >= 1, null, { timeout: 60_000 });

export const heat = (page, view, which) => page.evaluate(([v, w]) => Array.from(window.cotherm.heat(v, w)), [view, which]);

export const state = (page) => page.evaluate(() => window.cotherm.state());

export const total = (values) => values.reduce((sum, value) => sum + value, 0);
