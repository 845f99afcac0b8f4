import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/**
 * Searches words with Lucene, for comparison. Started by the Go program above it.
 *
 * Answers requests, one JSON object a line. {"do": "build", "words": FILE, "index": FOLDER, "deleted_every": N} indexes
 * the lines of FILE, words separated by spaces behind the number of their document, with positions, as one segment, and
 * deletes each N-th document; {"do": "open", "index": FOLDER} opens what an earlier run built. {"do": "search",
 * "queries": FILE, "k": K} searches for the words of each line of FILE, one after another on one thread, and answers
 * {"seconds": [...], "found": [[line, ...], ...]}.
 */
public final class Words {
  private static IndexSearcher searcher;

  public static void main(String[] arguments) throws Exception {
    System.out.println("{\"about\": \"Lucene " + Version.LATEST + ", Java " + System.getProperty("java.version") + "\"}");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(
          switch (text(line, "do")) {
            case "build" -> build(line);
            case "open" -> open(Path.of(text(line, "index")));
            default -> search(line);
          });
    }
  }

  /** Returns the text of a member of a flat JSON object without escapes. */
  private static String text(String json, String name) {
    Matcher m = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|(\\d+))").matcher(json);
    if (!m.find()) {
      throw new IllegalArgumentException(name + " is not in " + json);
    }
    return m.group(1) != null ? m.group(1) : m.group(2);
  }

  private static String build(String request) throws Exception {
    Path dir = Path.of(text(request, "index"));
    int every = Integer.parseInt(text(request, "deleted_every"));
    long wall = System.nanoTime();
    double cpu = processorTime();
    try (FSDirectory directory = new MMapDirectory(dir)) {
      IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
      config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setRAMBufferSizeMB(256);
      config.setMergePolicy(new org.apache.lucene.index.LogByteSizeMergePolicy()); // which keeps the order
      try (IndexWriter writer = new IndexWriter(directory, config);
          BufferedReader lines = Files.newBufferedReader(Path.of(text(request, "words")))) {
        long row = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          int end = line.indexOf(' ');
          Document d = new Document();
          d.add(new StringField("document", end < 0 ? line : line.substring(0, end), Field.Store.NO));
          d.add(new TextField("text", end < 0 ? "" : line.substring(end + 1), Field.Store.NO));
          d.add(new NumericDocValuesField("row", row++));
          writer.addDocument(d);
        }
        writer.forceMerge(1);
      }
      wall = System.nanoTime() - wall;
      cpu = processorTime() - cpu;
      IndexWriterConfig deleting = new IndexWriterConfig(new WhitespaceAnalyzer()).setMergePolicy(NoMergePolicy.INSTANCE);
      try (IndexWriter writer = new IndexWriter(directory, deleting);
          BufferedReader lines = Files.newBufferedReader(Path.of(text(request, "words")))) {
        long last = -1;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          long document = Long.parseLong(line.split(" ", 2)[0]);
          if (document != last && document % every == 0) {
            writer.deleteDocuments(new Term("document", Long.toString(document)));
          }
          last = document;
        }
      }
      open(dir);
      long bytes = 0;
      for (String file : directory.listAll()) {
        bytes += directory.fileLength(file);
      }
      return String.format(java.util.Locale.ROOT, "{\"wall\": %f, \"cpu\": %f, \"bytes\": %d}", wall / 1e9, cpu, bytes);
    }
  }

  private static String open(Path dir) throws Exception {
    DirectoryReader reader = DirectoryReader.open(new MMapDirectory(dir));
    if (reader.leaves().size() != 1) {
      throw new IllegalStateException(reader.leaves().size() + " segments");
    }
    searcher = new IndexSearcher(reader);
    searcher.setSimilarity(new BM25Similarity());
    searcher.setQueryCache(null);
    return "{}";
  }

  private static double processorTime() {
    return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }

  private static String search(String request) throws Exception {
    int k = Integer.parseInt(text(request, "k"));
    List<Query> queries = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(text(request, "queries")))) {
      BooleanQuery.Builder b = new BooleanQuery.Builder();
      for (String word : new LinkedHashSet<>(List.of(line.split(" ")))) {
        int times = 0;
        for (String w : line.split(" ")) {
          times += w.equals(word) ? 1 : 0;
        }
        Query one = new TermQuery(new Term("text", word));
        b.add(times > 1 ? new org.apache.lucene.search.BoostQuery(one, times) : one, BooleanClause.Occur.SHOULD);
      }
      queries.add(b.build());
    }
    NumericDocValues rows = null;
    StringBuilder seconds = new StringBuilder();
    StringBuilder found = new StringBuilder();
    for (Query q : queries) {
      long began = System.nanoTime();
      TopDocs top = searcher.search(q, k);
      seconds.append(seconds.isEmpty() ? "" : ", ").append((System.nanoTime() - began) / 1e9);
      StringBuilder some = new StringBuilder();
      for (ScoreDoc hit : top.scoreDocs) {
        rows = searcher.getIndexReader().leaves().get(0).reader().getNumericDocValues("row");
        rows.advanceExact(hit.doc);
        some.append(some.isEmpty() ? "" : ", ").append(rows.longValue());
      }
      found.append(found.isEmpty() ? "[" : ", [").append(some).append(']');
    }
    return "{\"seconds\": [" + seconds + "], \"found\": [" + found + "]}";
  }
}
