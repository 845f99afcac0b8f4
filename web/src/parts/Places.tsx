import { Link, useLocation } from 'wouter'

/** The places of an area or an object, as links; the one that is shown is marked. Addresses are relative to the router. */
export function Places({ label, all }: { label: string; all: readonly (readonly [href: string, name: string])[] }) {
  const [at] = useLocation()
  return (
    <nav aria-label={label} className="places">
      <ul>
        {all.map(([href, name]) => (
          <li key={href}>
            <Link
              href={href}
              aria-current={at === href || (href !== '/' && at.startsWith(`${href}/`)) ? 'page' : undefined}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
