package expr

import "math"

// Integers applies + - * / or % to 64-bit integers; ok is false if the result overflows or does not exist. Go's integers
// wrap around, which is what the conditions detect.
func Integers(op byte, a, b int64) (n int64, ok bool) {
	switch op {
	case '+':
		n = a + b
		return n, (n > a) == (b > 0)
	case '-':
		n = a - b
		return n, (n < a) == (b > 0)
	case '*':
		if a == 0 || b == 0 {
			return 0, true
		}
		n = a * b
		return n, n/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
	case '/':
		if b == 0 || a == math.MinInt64 && b == -1 {
			return 0, false
		}
		return a / b, true
	}
	if b == 0 || b == -1 { // -1 also for the smallest integer
		return 0, b == -1
	}
	return a % b, true
}

// Reals applies + - * / or % to numbers. The result may be infinite or not a number.
func Reals(op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	return math.Mod(a, b)
}

// Ordered reports whether <, <=, > or >= holds for two values whose comparison, as by cmp.Compare, is order.
func Ordered(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}
