import { Field } from '../parts/Field'

interface Props {
  label: string
  value: number | undefined
  change: (next: number | undefined) => void
  hint?: string
  bad?: string
  min?: number
  max?: number
  step?: number | 'any'
}

/** A number that may be left to the service. */
export function NumberField({ value, change, step = 1, ...rest }: Props) {
  return (
    <Field
      {...rest}
      type="number"
      inputMode="decimal"
      step={step}
      value={value ?? ''}
      onChange={(e) => change(e.target.value === '' ? undefined : Number(e.target.value))}
    />
  )
}
