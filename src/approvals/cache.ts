/**
 * Answers remembered for the session. Keys include the policy's fingerprint, so changed rules forget old answers.
 * A call passes only when all of its keys are known: a patch stores each file apart, so later subsets pass.
 */
export class ApprovalCache {
  readonly #known = new Set<string>();

  has(fingerprint: string, keys: readonly string[]): boolean {
    return keys.length > 0 && keys.every((key) => this.#known.has(`${fingerprint}\n${key}`));
  }

  remember(fingerprint: string, keys: readonly string[]): void {
    for (const key of keys) this.#known.add(`${fingerprint}\n${key}`);
  }
}
