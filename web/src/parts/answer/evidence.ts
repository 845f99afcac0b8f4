/** Returns in a word how likely what is quoted first is to answer: about four in five, every second, or fewer. */
export function closeness(evidence: number): 'strong' | 'fair' | 'weak' {
  if (evidence >= 0.7) return 'strong'
  return evidence >= 0.4 ? 'fair' : 'weak'
}
