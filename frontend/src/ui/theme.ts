// Light or dark, as chosen or as the system has it; colors come from the style sheet, which is the one place that knows them.
import type { Theme } from "../model/state.ts";

const wishes = matchMedia("(prefers-color-scheme: dark)");

export const isDark = (theme: Theme): boolean => (theme === "auto" ? wishes.matches : theme === "dark");

export const onSystemTheme = (listener: () => void): void => wishes.addEventListener("change", listener);

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = isDark(theme) ? "dark" : "light";
}

export const cssValue = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const unitColor = (name: string): [number, number, number] => {
  const hex = cssValue(name);
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255) as [number, number, number];
};
