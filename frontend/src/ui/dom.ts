// Elements without HTML: texts from the data are only ever text.

type Child = Node | string | null | undefined | false;

interface Properties {
  class?: string;
  on?: Partial<Record<keyof HTMLElementEventMap, (event: never) => void>>;
  [attribute: string]: unknown;
}

function fill(element: Element, properties: Properties, children: Child[]): void {
  for (const [key, value] of Object.entries(properties)) {
    if (key === "on")
      for (const [name, handler] of Object.entries(value as object)) element.addEventListener(name, handler as EventListener);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export const SVG = "http://www.w3.org/2000/svg";

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  fill(element, properties, children);
  return element;
}

const ICONS = {
  play: "M5 3.5v9l7.5-4.5z",
  pause: "M4.5 3.5h2.5v9H4.5zM9 3.5h2.5v9H9z",
  theme: "M8 2a6 6 0 1 0 0 12zM8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z",
  link: "M6.6 9.4a2.6 2.6 0 0 0 3.7 0l2.4-2.4a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.4 6.6a2.6 2.6 0 0 0-3.7 0L3.3 9a2.6 2.6 0 0 0 3.7 3.7l.9-.9",
  save: "M8 2v8m0 0 3-3m-3 3-3-3M3 13.5h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  side: "M2 3h12v10H2zM10 3v10",
} as const;

const FILLED = new Set(["play", "pause", "theme"]);

export const icon = (name: keyof typeof ICONS): SVGSVGElement =>
  svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" },
    svg(
      "path",
      FILLED.has(name)
        ? { d: ICONS[name], fill: "currentColor" }
        : {
            d: ICONS[name],
            fill: "none",
            stroke: "currentColor",
            "stroke-width": 1.4,
            "stroke-linecap": "round",
            "stroke-linejoin": "round",
          },
    ),
  );

export interface Choice<T> {
  value: T;
  text: string;
}

/** A select with a label in front. */
export function select<T extends string>(
  label: string,
  choices: Choice<T>[],
  value: T,
  change: (value: T) => void,
): { element: HTMLLabelElement; input: HTMLSelectElement } {
  const input = el("select", {}, ...choices.map((choice) => el("option", { value: choice.value }, choice.text)));
  input.value = value;
  input.addEventListener("change", () => change(input.value as T));
  return { element: el("label", { class: "field" }, el("span", {}, label), input), input };
}

/** Buttons of which one is pressed. */
export function segments<T extends string>(
  label: string,
  choices: Choice<T>[],
  choose: (value: T) => void,
): { element: HTMLElement; show: (value: T) => void } {
  const buttons = choices.map(({ value, text }) => el("button", { type: "button", on: { click: () => choose(value) } }, text));
  const show = (value: T): void => buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(choices[k].value === value)));
  return { element: el("div", { class: "segments", role: "group", "aria-label": label }, ...buttons), show };
}

export const clear = (element: Element): void => element.replaceChildren();
