package view

// Beside calls do in a goroutine of its own, guarded as by Guard, and returns a function that waits for its end and returns its
// error, as often as it is called. A panic of do is one of that function.
func Beside(views []*View, do func() error) (wait func() error) {
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		defer Guard(&err, views)()
		err = do()
	}()
	return func() error {
		<-done
		if panicked != nil {
			panic(panicked)
		}
		return err
	}
}
