/** Separates calls in code blocks from those that an answer only proposes or shows. @module */

const alternatives = (...patterns: RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join("|"), "i");

/** Text after a call that the answer proposes. */
const ASKED_BEHIND = alternatives(
  /[?？]\s*$/,
  /\b(?:shall|should|may|can) (?:I|we)\b/,
  /\b(?:let me know|tell me (?:if|whether|when)|if you(?:'d)? (?:want|like|agree|wish|prefer|approve)|would you|do you want|want me to|please confirm|confirm (?:that|if|and|before)|your (?:approval|permission|confirmation|consent|go-ahead)|before I (?:do|run|go)|waiting for)\b/,
  /\b(?:not|n['’]t|never)\b[^.!?\n]{0,40}\b(?:done|run|ran|called|made|executed|deleted|sent|used|yet|so|it)\b/,
  /\b(?:only|just) (?:an? )?(?:example|illustration|proposal|suggestion|sketch)\b|\bhypothetical/,
);
const SHOWN_BEFORE = alternatives(
  /\b(?:would|could|might)\b|\b(?:you|we|I|they|he|she|it)['’]d\b/,
  /\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuch as\b|\blooks? like\b|\bwritten (?:like|as)\b/,
  /\bif you(?:['’]d)? (?:want|like|agree|wish|prefer|need|ever)\b|\byou (?:can|may|should|must|need to|have to)\b/,
  /\b(?:shall|should|may) I\b|\bpropos(?:e|al)\b|\bsuggest/,
  /\b(?:format|syntax|template|shape|schema|structure) (?:of|for|is)\b/,
  /\b(?:do not|don['’]t|never|instead of|rather than|without) (?:run|call|use|execut|send|writ|mak|do)/,
  /\b(?:must|should|shall|will|wo) ?(?:not|n['’]t) (?:run|call|use|execut|send|writ|mak|do)|\brefus|\bforb[ai]d|\bout of the question/,
  /\b(?:file|log|page|issue|output|text|document)s? (?:contain|say|said|read|show|h[eo]ld)s?:?$/,
  /\b(?:hypothetical|sample|illustrat|demonstrat|suppose|imagine)/,
);
/** Words of an English text. The patterns above recognise a proposal only in English. */
const ENGLISH =
  /\b(?:the|an?|to|I|I['’]ll|will|let|now|this|it|and|with|first|next|here|we|using)\b/i;

/** A sentence that refuses the next text, unless it continues with an alternative. */
const REFUSING =
  /\b(?:I|we)(?: (?:must|will|shall|should|may|am|are)(?: not|n['’]t| never)| (?:wo|sha)n['’]t| refuse to|['’](?:ll|m) (?:not|never))\b(?![^.!?\n]*\b(?:but|instead|so|let me|rather|until|before|without|unless|yet|forget|fail|only|just|guess|assume)\b)[^.!?\n]{0,60}\b(?:do|run|call|make|execute|send|delete|remove|write|allowed|permitted|supposed)\b/i;

export const BEFORE_CALL_CHARS = 400;

/** True if the text around calls in code blocks asks about them, calls them examples, or says that nothing was done. */
export function isProposal(before: string, behind: string): boolean {
  return SHOWN_BEFORE.test(lastSentence(before)) ||
    behind.trim() !== "" && ASKED_BEHIND.test(behind.trim());
}

function lastSentence(text: string): string {
  return text.slice(-BEFORE_CALL_CHARS).trim().split(/(?<=[.!?])\s+|\n\s*\n/).at(-1)!;
}

/** True if the sentence before a call refuses it, regardless of its marks. */
export function isForbidden(before: string): boolean {
  return REFUSING.test(lastSentence(before.split("</think>").at(-1)!));
}

/** True if only their position shows that calls in code blocks are made, because no words of a proposal are known. */
export function mayBeProposal(before: string, behind: string): boolean {
  return behind.trim() !== "" || /\p{L}/u.test(before) && !ENGLISH.test(before);
}
