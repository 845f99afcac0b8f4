package userfn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// function is a function that a program can call. get and knee are not among them, since their arguments are not values.
type function struct {
	least, most int // number of arguments
	apply       func(r *run, args []value) value
	check       func(args []node) error // of literal arguments, when the program is parsed; may be nil
}

const many = 100 // maximum number of arguments of variadic functions

// takes returns the number of arguments that f takes, for messages.
func (f *function) takes() string {
	switch {
	case f.least == f.most && f.least == 1:
		return "1 argument"
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.least)
	case f.most == many:
		return fmt.Sprintf("%d arguments or more", f.least)
	}
	return fmt.Sprintf("%d or %d arguments", f.least, f.most)
}

var functions = map[string]*function{
	"now": {0, 0, func(r *run, _ []value) value {
		return value{kind: datetime, num: float64(r.now.Unix()) + float64(r.now.Nanosecond())/1e9}
	}, nil},
	"iso_datetime_parse":  {1, 1, isoDatetime, nil},
	"iso_date_time_parse": {1, 1, isoDatetime, nil},
	"datetime_parse":      {2, 2, patternDatetime, checkPattern},
	"to_unix_timestamp":   {1, 1, convert(datetime, number, 1), nil},
	"seconds":             {1, 1, units(1), nil}, "as_seconds": {1, 1, convert(duration, number, 1), nil},
	"minutes": {1, 1, units(60), nil}, "as_minutes": {1, 1, convert(duration, number, 60), nil},
	"hours": {1, 1, units(3600), nil}, "as_hours": {1, 1, convert(duration, number, 3600), nil},
	"days": {1, 1, units(86400), nil}, "as_days": {1, 1, convert(duration, number, 86400), nil},

	"abs": math1(math.Abs), "sqrt": math1(math.Sqrt), "trunc": math1(math.Trunc), "sign": math1(sign),
	"power": math2(math.Pow),
	"min":   {2, many, fold(math.Min), nil}, "max": {2, many, fold(math.Max), nil},
	"log": {1, 2, logarithm, nil}, "ln": math1(math.Log), "log10": math1(math.Log10),
	"radians": math1(func(x float64) float64 { return x / 180 * math.Pi }),
	"degrees": math1(func(x float64) float64 { return x / math.Pi * 180 }),
	"sin":     math1(math.Sin), "cos": math1(math.Cos), "tan": math1(math.Tan),
	"sind": math1(sind), "cosd": math1(cosd), "tand": math1(func(x float64) float64 { return sind(x) / cosd(x) }),
}

// numbers returns the arguments as numbers. If one of them is null, or neither a number nor a boolean, it returns nil and
// the value of the function instead.
func numbers(args []value) (out []float64, instead value) {
	out = make([]float64, len(args))
	for i, a := range args {
		if a = asNumber(a); a.kind != number {
			return nil, unlike(a)
		}
		out[i] = a.num
	}
	return out, nothing
}

// unlike returns the value of a function for an argument that is not of the kind that it takes.
func unlike(a value) value {
	if a.kind == null {
		return nothing
	}
	return mismatch
}

func math1(f func(float64) float64) *function {
	return &function{least: 1, most: 1, apply: func(_ *run, args []value) value {
		x, instead := numbers(args)
		if x == nil {
			return instead
		}
		return double(f(x[0]))
	}}
}

func math2(f func(a, b float64) float64) *function {
	return &function{least: 2, most: 2, apply: fold(f)}
}

// fold returns a function that combines its arguments with f, from the left.
func fold(f func(a, b float64) float64) func(*run, []value) value {
	return func(_ *run, args []value) value {
		x, instead := numbers(args)
		if x == nil {
			return instead
		}
		out := x[0]
		for _, y := range x[1:] {
			out = f(out, y)
		}
		return double(out)
	}
}

// logarithm implements log(base, x) and log(x), the natural logarithm.
func logarithm(_ *run, args []value) value {
	x, instead := numbers(args)
	switch {
	case x == nil:
		return instead
	case len(x) == 1:
		return double(math.Log(x[0]))
	}
	switch x[0] { // these are exact for powers of the base
	case 2:
		return double(math.Log2(x[1]))
	case 10:
		return double(math.Log10(x[1]))
	}
	if x[0] <= 0 || x[1] <= 0 {
		return nothing
	}
	return double(math.Log(x[1]) / math.Log(x[0]))
}

func sign(x float64) float64 { return float64(cmp.Compare(x, 0)) }

// sind returns the sine of x degrees. It is exact where that is 0, ±0.5 or ±1, unlike math.Sin of the radians.
func sind(x float64) float64 {
	x = math.Mod(x, 360)
	if x < 0 {
		x += 360
	}
	switch x {
	case 0, 180:
		return 0
	case 30, 150:
		return 0.5
	case 90:
		return 1
	case 210, 330:
		return -0.5
	case 270:
		return -1
	}
	return math.Sin(x / 180 * math.Pi)
}

// cosd returns the cosine of x degrees.
func cosd(x float64) float64 { return sind(math.Mod(x, 360) + 90) }

// units returns a function that converts a number of units into a duration, and a duration into a number of units. The
// unit is in seconds.
func units(unit float64) func(*run, []value) value {
	return func(_ *run, args []value) value {
		switch a := asNumber(args[0]); a.kind {
		case number:
			return quantity(duration, a.num*unit)
		case duration:
			return double(a.num / unit)
		}
		return unlike(args[0])
	}
}

// convert returns a function that converts a value of one kind to another, in units. It is null for any other kind.
func convert(from, to kind, unit float64) func(*run, []value) value {
	return func(_ *run, args []value) value {
		if args[0].kind != from {
			return unlike(args[0])
		}
		return quantity(to, args[0].num/unit)
	}
}

func isoDatetime(_ *run, args []value) value {
	if args[0].kind != text {
		return unlike(args[0])
	}
	return datetimeValue(parseISO(args[0].str))
}

func patternDatetime(_ *run, args []value) value {
	for _, a := range args {
		if a.kind != text {
			return unlike(a)
		}
	}
	pattern, err := parsePattern(args[1].str)
	if err != nil {
		return nothing
	}
	return datetimeValue(pattern.parse(args[0].str))
}

// checkPattern returns an error if the second argument is a literal that is not a valid pattern.
func checkPattern(args []node) error {
	c, ok := args[1].(constant)
	if !ok {
		return nil
	}
	if c.value.kind != text {
		return errors.New("the pattern of datetime_parse is a string, such as 'yyyy-MM-dd'")
	}
	_, err := parsePattern(c.value.str)
	return err
}
