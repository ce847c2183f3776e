# From a checkout: brew install --HEAD --formula ./packaging/homebrew/workagent.rb
# The checkout it is built from is HOMEBREW_WORKAGENT_SOURCE, or the one this file lies in.
class Workagent < Formula
  desc "Supervisor for a person's work agent: unit files, durable cases, reviewed replies"
  homepage "file://#{File.expand_path("../..", __dir__)}"
  license any_of: ["MIT", "Apache-2.0"]
  head ENV.fetch("HOMEBREW_WORKAGENT_SOURCE", File.expand_path("../..", __dir__)), using: :git

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--locked", *std_cargo_args
    man1.install Dir["packaging/man/*.1"]
    man5.install Dir["packaging/man/*.5"]
    bash_completion.install "packaging/completions/workagent.bash" => "workagent"
    fish_completion.install "packaging/completions/workagent.fish"
    zsh_completion.install "packaging/completions/_workagent"
  end

  # `workagent service install` knows more: the PATH of the login shell, exit codes that only a person mends.
  def caveats
    <<~TEXT
      To run it as a service of yours:
        workagent service install
    TEXT
  end

  test do
    assert_match version.to_s.split("-").first, shell_output("#{bin}/workagent --version") unless head?
    system bin/"workagent", "demo", "--yes"
  end
end
