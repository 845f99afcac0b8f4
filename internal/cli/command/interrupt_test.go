package command

import (
	"os"
	"testing"
)

// TestInterrupt proves that Ctrl-C calls what took it, as often as it is pressed, and else stops the command once.
func TestInterrupt(t *testing.T) { // not parallel: it resets a signal of the process
	for _, tc := range []struct {
		name              string
		take              bool
		presses           int
		stopped, answered int
	}{{"left", false, 1, 1, 0}, {"taken", true, 3, 0, 3}} {
		var i Interrupt
		stopped, answered := 0, 0
		signals, done, ended := make(chan os.Signal), make(chan struct{}), make(chan struct{})
		if tc.take {
			i.Take(func() { answered++ })
		}
		go func() {
			defer close(ended)
			i.Watch(signals, done, func() { stopped++ })
		}()
		for range tc.presses {
			signals <- os.Interrupt
		}
		if tc.take {
			close(done)
		}
		<-ended
		if stopped != tc.stopped || answered != tc.answered {
			t.Errorf("%s: stopped %d times, answered %d times", tc.name, stopped, answered)
		}
	}
}
