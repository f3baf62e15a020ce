/** Hours for people: minutes below two hours, days above four. */
export function formatHours(hours: number): string {
  const minutes = hours * 60;
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  if (minutes < 120) return `${trim(minutes, 2)} min`;
  if (hours < 96) return `${trim(hours, 3)} h`;
  return `${trim(hours / 24, 3)} d`;
}

/** Money for people: cents below a hundred. */
export function formatMoney(amount: number, currency: string): string {
  const text = amount.toLocaleString("en-US", {
    minimumFractionDigits: amount < 100 ? 2 : 0,
    maximumFractionDigits: amount < 100 ? 2 : 0,
  });
  return currency === "USD" ? `$${text}` : `${text} ${currency}`;
}

/** A rate for people, per hour and as the time between two. */
export function formatRate(perHour: number): string {
  return perHour === 0 ? "none" : `${trim(perHour, 3)}/h (one in ${formatHours(1 / perHour)})`;
}

function trim(value: number, digits: number): string {
  return String(value >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits)));
}
