// Shortcuts of the whole page, where no field or panel has taken the key.

export interface KeyActions {
  play(): void;
  step(by: number): void;
  seek(stop: number): void;
  last(): void;
  shown(which: "both" | "before" | "after"): void;
  nextFunction(): void;
  search(): void;
  link(): void;
  theme(): void;
  help(): void;
}

const takesText = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input:not([type=checkbox]):not([type=range]), select, textarea, dialog") !== null;
const takesSpace = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("button, input[type=checkbox], summary, a, [role=tab]") !== null;
const takesArrows = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input[type=range], .panel, [role=tab], .rows") !== null;

export function listenForKeys(actions: KeyActions, enabled: () => boolean): void {
  const arrows: Record<string, () => void> = {
    ArrowLeft: () => actions.step(-1),
    ArrowRight: () => actions.step(1),
    Home: () => actions.seek(0),
    End: () => actions.last(),
  };
  const letters: Record<string, () => void> = {
    "1": () => actions.shown("both"),
    "2": () => actions.shown("before"),
    "3": () => actions.shown("after"),
    f: () => actions.nextFunction(),
    "/": () => actions.search(),
    l: () => actions.link(),
    d: () => actions.theme(),
    "?": () => actions.help(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || takesText(event.target)) return;
    const act =
      event.key === " " && !takesSpace(event.target)
        ? actions.play
        : event.key in arrows && !takesArrows(event.target)
          ? arrows[event.key]
          : enabled()
            ? letters[event.key.toLowerCase()]
            : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  });
}
