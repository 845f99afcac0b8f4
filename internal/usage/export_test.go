package usage

// Kept returns how many buckets are in memory.
func (m *Meter) Kept() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.full)
}
