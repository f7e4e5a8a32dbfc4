// Colors of changed edges: after Okabe and Ito, told apart with every kind of color blindness; line styles say the same again.

export interface KindStyle {
  light: string;
  dark: string;
  dash: string;
  width: number;
}

/** By kind: as before, cut, weakened, strengthened, new. None is orange or yellow: those are heat. */
export const KIND_STYLES: readonly KindStyle[] = [
  { light: "#5b6470", dark: "#a7b0bd", dash: "", width: 1 },
  { light: "#b8127f", dark: "#ff7ad1", dash: "5 3", width: 1.8 },
  { light: "#0072b2", dark: "#56b4e9", dash: "", width: 1.4 },
  { light: "#00805d", dark: "#2fd39c", dash: "", width: 2.6 },
  { light: "#2b303b", dark: "#f4f6fa", dash: "1.5 3", width: 2.2 },
];

export const kindColor = (kind: number, dark: boolean): string => {
  const style = KIND_STYLES[kind] ?? KIND_STYLES[0];
  return dark ? style.dark : style.light;
};

export const toUnit = (hex: string): [number, number, number] =>
  [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255) as [number, number, number];
