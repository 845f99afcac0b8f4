import os
from vectara import KeyedSearchCorpus, SearchCorporaParameters, Vectara
from vectara.environment import VectaraEnvironment

url = "http://127.0.0.1:8080"
client = Vectara(api_key=os.environ["QUARRY_API_KEY"], environment=VectaraEnvironment(default=url, auth=url))
answer = client.query(
    query="how long does \"the pump\" run?",
    search=SearchCorporaParameters(corpora=[KeyedSearchCorpus(corpus_key="docs")]),
)
for result in answer.search_results:
    print(f"{result.score:.3f}  {result.document_id}  {result.text}")
