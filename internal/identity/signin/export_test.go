package signin

import "sync/atomic"

// Cheap makes hashes cost next to nothing, and counts them.
func (s *Service) Cheap() *atomic.Int64 {
	var runs atomic.Int64
	s.hasher = newHasher(cheap)
	s.hasher.derive = func(of stored, password string, n int) []byte {
		runs.Add(1)
		return of.run(password, n)
	}
	return &runs
}

// Dearer makes another cost today's.
func (s *Service) Dearer() { s.hasher.cost.passes++ }

// Burst is how many failures one username and one address may have at once.
func Burst() (username, address int) { return int(perUsername.burst), int(perAddress.burst) }
