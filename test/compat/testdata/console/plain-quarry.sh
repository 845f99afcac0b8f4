quarry query --url=http://127.0.0.1:8080 --limit=10 --explain -- docs 'how long does "the pump" run?'
