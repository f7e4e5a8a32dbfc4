// Color maps: equal steps of heat look like equal steps of color.
import type { MapName } from "../model/state.ts";

export type Color = readonly [number, number, number]; // sRGB, 0 to 255

/** 256 colors, RGBA. */
export type Table = Uint8Array;

// Seventeen equal steps of matplotlib's viridis and inferno, both CC0.
const VIRIDIS = "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725";
const INFERNO = "000004 0b0724 210c4a 3d0965 57106e 71196e 8a226a a32c61 bc3754 d24644 e45a31 f1731d f98e09 fcac11 f9cb35 f2ea69 fcffa4";

/** Colors of the map "heat" as (lightness, chroma, hue) of OKLCH: cold is near the background, so that heat alone is loud. */
const HEAT_ON_LIGHT: Color[] = [
  [0.87, 0.012, 240],
  [0.82, 0.08, 85],
  [0.74, 0.16, 65],
  [0.63, 0.21, 42],
  [0.5, 0.2, 27],
  [0.36, 0.14, 12],
];
const HEAT_ON_DARK: Color[] = [
  [0.4, 0.02, 260],
  [0.45, 0.08, 320],
  [0.54, 0.17, 8],
  [0.65, 0.21, 38],
  [0.79, 0.17, 70],
  [0.95, 0.09, 100],
];

/** Blue below 0, red above, and near the background in between. */
const SIGNED_ON_LIGHT: Color[] = [
  [0.38, 0.12, 260],
  [0.62, 0.12, 250],
  [0.87, 0.008, 250],
  [0.66, 0.16, 42],
  [0.42, 0.16, 25],
];
const SIGNED_ON_DARK: Color[] = [
  [0.88, 0.09, 220],
  [0.63, 0.13, 250],
  [0.4, 0.01, 260],
  [0.62, 0.18, 30],
  [0.9, 0.12, 85],
];

const hex = (text: string): Color[] =>
  text.split(" ").map((code) => [0, 2, 4].map((k) => parseInt(code.slice(k, k + 2), 16)) as unknown as Color);

const encode = (linear: number): number =>
  255 * (linear <= 0.0031308 ? 12.92 * Math.max(0, linear) : 1.055 * Math.min(1, linear) ** (1 / 2.4) - 0.055);

/** Björn Ottosson's OKLab, back to sRGB. */
export function fromOklab(L: number, a: number, b: number): Color {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const decode = (value: number): number => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);

export function toOklab([red, green, blue]: Color): Color {
  const [r, g, b] = [decode(red), decode(green), decode(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const polar = ([L, chroma, hue]: Color): Color => {
  const angle = (hue * Math.PI) / 180;
  return [L, chroma * Math.cos(angle), chroma * Math.sin(angle)];
};

/** 256 colors through some colors of OKLab. */
function through(stops: readonly Color[]): Table {
  const table = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) {
    const at = (k / 255) * (stops.length - 1);
    const left = Math.min(Math.floor(at), stops.length - 2);
    const [L, a, b] = stops[left].map((value, c) => value + (at - left) * (stops[left + 1][c] - value));
    table.set([...fromOklab(L, a, b).map(Math.round), 255], 4 * k);
  }
  return table;
}

export function makeTable(name: MapName, signed: boolean, dark: boolean): Table {
  if (signed) return through((dark ? SIGNED_ON_DARK : SIGNED_ON_LIGHT).map(polar));
  if (name === "viridis") return through(hex(VIRIDIS).map(toOklab));
  if (name === "inferno") return through(hex(INFERNO).map(toOklab));
  return through((dark ? HEAT_ON_DARK : HEAT_ON_LIGHT).map(polar));
}

export const cssColor = (table: Table, part: number): string => {
  const k = 4 * Math.round(255 * Math.min(1, Math.max(0, part)));
  return `rgb(${table[k]}, ${table[k + 1]}, ${table[k + 2]})`;
};
