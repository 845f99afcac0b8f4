import { useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const place = 'quarry.theme'

function apply(theme: Theme) {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(place)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}

/** Applies the colours that were chosen before. */
export function restoreTheme() {
  apply(stored())
}

export function useTheme(): [Theme, (next: Theme) => void] {
  const [theme, set] = useState(stored)
  return [
    theme,
    (next) => {
      set(next)
      apply(next)
      try {
        localStorage.setItem(place, next)
      } catch {
        // forgotten at the next load
      }
    },
  ]
}
