import os
from vectara import ContextConfiguration, KeyedSearchCorpus, SearchCorporaParameters, SearchReranker_Chain, SearchReranker_CustomerReranker, SearchReranker_Mmr, SearchReranker_Userfn, Vectara
from vectara.environment import VectaraEnvironment

url = "http://127.0.0.1:8080"
client = Vectara(api_key=os.environ["QUARRY_API_KEY"], environment=VectaraEnvironment(default=url, auth=url))
answer = client.query(
    query="how long does \"the pump\" run?",
    search=SearchCorporaParameters(corpora=[KeyedSearchCorpus(corpus_key="docs", metadata_filter="doc.line = 'it''s'", lexical_interpolation=0.1, semantics="response", custom_dimensions={"popularity": 2}), KeyedSearchCorpus(corpus_key="more", query="other")], limit=3, max_by="doc.id", context_configuration=ContextConfiguration(sentences_before=1, start_tag="<b>", end_tag="</b>"), reranker=SearchReranker_Chain(rerankers=[SearchReranker_CustomerReranker(cutoff=0.2, include_context=False), SearchReranker_Mmr(diversity_bias=0.5), SearchReranker_Userfn(limit=5, user_function="get('$.score') * 2")])),
    save_history=False,
    request_options={"additional_body_parameters": {"explain": {"document_id": "lost"}}},
)
for result in answer.search_results:
    print(f"{result.score:.3f}  {result.document_id}  {result.text}")
print(answer.absent_document)
