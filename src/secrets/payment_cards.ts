import type { Finding } from "./kinds.ts";

/**
 * A number as it is written or printed: in one run, in fours, or as American Express and Diners Club
 * have it. What stands in a longer number, as in an IBAN, is none.
 */
const NUMBER =
  /(?<![\w.+-]|\d[ -])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-])/g;

/** First digits and lengths of the issuers (ISO/IEC 7812; their own published ranges). */
const ISSUERS: readonly RegExp[] = [
  /^4(?:\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^(?:6011|64[4-9]\d|65\d{2})\d{12}$/, // Discover
  /^3(?:0[0-5]|[689]\d)\d{11}$/, // Diners Club
  /^35(?:2[89]|[3-8]\d)\d{12}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
  /^(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12}$/, // Maestro
];

/** ISO/IEC 7812, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = i % 2 === 0 ? digit : 2 * digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isCard(written: string): boolean {
  const digits = written.replace(/[ -]/g, "");
  // Numbers that vendors publish for tests repeat two or three digits.
  return new Set(digits).size > 3 && ISSUERS.some((issuer) => issuer.test(digits)) &&
    passesLuhn(digits);
}

/** Each payment card number. */
export function findPaymentCards(text: string): Finding[] {
  return [...text.matchAll(NUMBER)].flatMap(({ 0: written, index }): Finding[] => {
    // The last three may be the security code.
    const short = written.replace(/[ -]\d{3}$/, "");
    const card = [written, short].find(isCard);
    if (card === undefined) return [];
    return [{ kind: "payment_card", start: index, end: index + written.length }];
  });
}
