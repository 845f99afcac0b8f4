package command

import (
	"os"
	"os/signal"
	"sync"
)

// Interrupt is what Ctrl-C does: it stops the command, unless the command takes it for something smaller. The zero value is
// ready.
type Interrupt struct {
	mu    sync.Mutex
	taken func() // guarded by mu
}

// Take has Ctrl-C call fn from now on, in place of stopping the command.
func (i *Interrupt) Take(fn func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.taken = fn
}

// Watch calls stop at the first signal, or what Take has set at each. It returns when done is closed. After stop or done another
// signal ends the program at once.
func (i *Interrupt) Watch(signals <-chan os.Signal, done <-chan struct{}, stop func()) {
	for {
		select {
		case <-done:
			signal.Reset(os.Interrupt)
			return
		case <-signals:
		}
		i.mu.Lock()
		taken := i.taken
		i.mu.Unlock()
		if taken == nil {
			signal.Reset(os.Interrupt)
			stop()
			return
		}
		taken()
	}
}
