/** Scripts that are nothing but commands of literal words, joined by `&&`, `||`, `;` or `|`. */

/** The words of each command, quotes removed; undefined when anything else occurs (expansion, redirect, grouping …). */
export function splitPlainScript(script: string): string[][] | undefined {
  const commands: string[][] = [[]];
  for (let rest = script.trim(); rest !== ''; ) {
    const operator = /^\s*(&&|\|\||;|\|)\s*/.exec(rest);
    if (operator) {
      commands.push([]);
      rest = rest.slice(operator[0].length);
      continue;
    }
    const word = takeWord(rest);
    if (!word) return undefined;
    commands.at(-1)!.push(word.text);
    rest = rest.slice(word.length).replace(/^[ \t]+/, '');
  }
  if (commands.at(-1)!.length === 0) commands.pop(); // a script may end in `;`
  return commands.length > 0 && commands.every((words) => words.length > 0) ? commands : undefined;
}

const PIECE = /^(?:'(?<single>[^']*)'|"(?<double>[^"$`\\]*)"|(?<bare>[^\s'"$`\\;&|<>(){}#!*?[\]~]+))/;

function takeWord(text: string): { text: string; length: number } | undefined {
  let word = '';
  let length = 0;
  for (;;) {
    const piece = PIECE.exec(text.slice(length));
    if (!piece) break;
    word += piece.groups?.['single'] ?? piece.groups?.['double'] ?? piece.groups?.['bare'] ?? '';
    length += piece[0].length;
  }
  const next = text[length];
  const endsHere = next === undefined || /[ \t;&|]/.test(next);
  return length > 0 && endsHere && !/^&(?!&)/.test(text.slice(length)) ? { text: word, length } : undefined;
}
