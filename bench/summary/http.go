package main

func timed(string, int) error { return nil }
