// Spells times, numbers and sizes the way the visitor's browser does.

const DAY_MS = 86_400_000;
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clocks = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const longDays = new Intl.DateTimeFormat(undefined, {
  weekday: "long", year: "numeric", month: "long", day: "numeric",
});
const months = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const numbers = new Intl.NumberFormat();
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const MIDNIGHT = /^(\d{4}-\d\d-\d\d)T00:00(:00)?([^\d.:].*)?$/;
const made = (value) => (value instanceof Date ? value : new Date(value));
const noon = (date) => new Date(`${date}T12:00:00`);

/** Spell a day. A midnight stands for a day of whoever said it, wherever the visitor is. */
export function day(value) {
  if (!value) return "";
  const whole = MIDNIGHT.exec(value);
  return dates.format(whole ? noon(whole[1]) : made(value));
}

export const moment = (value) => (value ? times.format(made(value)) : "");
export const clock = (value) => clocks.format(made(value));
export const longDay = (value) => longDays.format(made(value));
export const month = (value) => months.format(made(value));
export const count = (value) => numbers.format(value);
export const fixed = (value, digits = 2) => Number(value).toFixed(digits);
export const percent = (share) => `${Math.round(100 * share)} %`;

/** Say how long ago or ahead a time is: "3 days ago". */
export function ago(value, now = Date.now()) {
  const ms = made(value).getTime() - now;
  const steps = [[60_000, "second", 1000], [3_600_000, "minute", 60_000], [DAY_MS, "hour", 3_600_000],
    [30 * DAY_MS, "day", DAY_MS], [365 * DAY_MS, "month", 30 * DAY_MS]];
  for (const [below, unit, size] of steps) {
    if (Math.abs(ms) < below) return relative.format(Math.round(ms / size), unit);
  }
  return relative.format(Math.round(ms / (365 * DAY_MS)), "year");
}

/** Spell a time that something took; whole days without the time of day, the last one included. */
export function span(start, end) {
  if (!start) return null;
  if (!MIDNIGHT.test(start) || !MIDNIGHT.test(end ?? start)) {
    return end ? `${moment(start)} – ${moment(end)}` : moment(start);
  }
  const last = end ? day(new Date(noon(MIDNIGHT.exec(end)[1]).getTime() - DAY_MS)) : day(start);
  return last === day(start) ? last : `${day(start)} – ${last}`;
}

/** Return the local day of a time as YYYY-MM-DD. */
export function dayKey(value) {
  const date = made(value);
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Say "1 memory" or "2 memories". */
export function many(number, one, more = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : more}`;
}

/** Estimate tokens as the server does: four bytes of UTF-8 each. */
export function tokens(text) {
  return Math.ceil(new TextEncoder().encode(text).length / 4);
}

/** Return a text's beginning, on a word. */
export function short(text, most = 160) {
  const points = Array.from(text);
  return points.length <= most ? text : `${points.slice(0, most).join("").trimEnd()} …`;
}
