import { el } from "./dom.ts";

export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  // Long after any browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
