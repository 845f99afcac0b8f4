/** Returns what a name would be as a key: letters and digits stay, everything between becomes one hyphen. */
export function keyOf(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_=]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '')
}
