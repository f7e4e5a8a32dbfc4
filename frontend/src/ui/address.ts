// Keeps the state in the page's address, and reads it from there.
import type { Data } from "../model/data.ts";
import { readLink, writeLink } from "../model/link.ts";
import type { Store } from "../model/state.ts";
import type { Camera } from "../scene/camera.ts";

/** Milliseconds: browsers refuse pages that write their address all the time. */
const DELAY = 300;

export class Address {
  private timer = 0;

  constructor(
    private readonly data: Data,
    private readonly store: Store,
    private readonly homes: readonly Camera[],
  ) {
    addEventListener("hashchange", () => store.set({ playing: false, ...readLink(location.hash, this.data, this.homes) }));
  }

  keep(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), DELAY);
  }

  private write(): void {
    try {
      history.replaceState(null, "", `#${writeLink(this.store.get(), this.homes)}`);
    } catch {
      // Pages inside of other pages may not change their address; the state is then not kept, and nothing else is lost.
    }
  }

  /** Copies the link; the answer says how it went. */
  async copy(): Promise<string> {
    this.write();
    try {
      await navigator.clipboard.writeText(location.href);
      return "The link is copied. It keeps view, time, source and cameras.";
    } catch {
      return "The address of this page is the link: copy it from there.";
    }
  }
}
