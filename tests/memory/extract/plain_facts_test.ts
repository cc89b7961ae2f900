import assert from "node:assert/strict";
import { extractFacts } from "../../../src/memory/extract/facts.ts";

const KEPT: Record<string, readonly string[]> = {
  English: [
    "I hate cilantro.",
    "I'm vegan.",
    "My dog died.",
    "I don't smoke.",
    "I'm left-handed.",
    "My sister is pregnant.",
    "We moved to Leeds.",
    "I love rain.",
    "I can't swim.",
    "He is allergic to cats.",
    "My name is Oona.",
    "Tom quit his job.",
    "No raisins.",
    "Never call before nine.",
    "Mum is deaf.",
    "I play the oboe.",
    "We got married.",
    "My son lives in Ghent.",
    "I take insulin.",
    "Our cat is called Miso.",
    "I prefer tea.",
    "The gate code is 7714.",
    "Dad retired.",
    "I was born in 1990.",
  ],
  German: [
    "Ich hasse Koriander.",
    "Ich bin Veganerin.",
    "Mein Hund ist gestorben.",
    "Meine Tochter heißt Lotte.",
    "Ich rauche nicht.",
    "Wir wohnen in Graz.",
    "Papa hat Diabetes.",
    "Ich mag keinen Fisch.",
  ],
  Spanish: [
    "Odio el cilantro.",
    "Soy vegana.",
    "Mi perro murió.",
    "Mi hija se llama Lucía.",
    "No fumo.",
    "Vivimos en Cádiz.",
    "Mi padre es diabético.",
    "Me encanta el mar.",
  ],
  French: [
    "Je déteste la coriandre.",
    "Je suis végane.",
    "Mon chien est mort.",
    "Ma fille s'appelle Zoé.",
    "Je ne fume pas.",
    "On habite à Lyon.",
    "Mon père est diabétique.",
    "J'adore la mer.",
  ],
};

const LEFT_OUT: Record<string, readonly string[]> = {
  English: [
    "We went to the shop.",
    "It rained.",
    "I slept well.",
    "I had lunch.",
    "We watched a film.",
    "The bus was late.",
    "That was funny.",
    "I made coffee.",
    "We can.",
    "See you soon!",
    "Thanks a lot.",
    "Sounds good.",
    "I cleaned the kitchen.",
    "I'm so tired today.",
    "We walked home.",
    "Nothing happened.",
    "Good morning.",
    "Maybe later.",
    "I see.",
    "It was nice.",
    "I went for a walk.",
    "What a day.",
    "We sat outside.",
    "Call me!",
    "How are you?",
  ],
  German: [
    "Wir waren einkaufen.",
    "Es hat geregnet.",
    "Ich habe gut geschlafen.",
    "Vielen Dank!",
    "Bis morgen!",
    "Wir haben ferngesehen.",
    "Das war lustig.",
    "Wie geht's?",
  ],
  Spanish: [
    "Fuimos a la tienda.",
    "Hoy llovió.",
    "Dormí bien.",
    "¡Muchas gracias!",
    "Hasta mañana.",
    "Vimos una película.",
    "Me senté.",
    "¿Qué tal?",
  ],
  French: [
    "On est allés au magasin.",
    "Il a plu.",
    "J'ai bien dormi.",
    "Merci beaucoup !",
    "À demain.",
    "On a regardé un film.",
    "C'était drôle.",
    "Ça va ?",
  ],
};

for (const [language, sentences] of Object.entries(KEPT)) {
  Deno.test(`a plain ${language} fact is kept, however short`, () => {
    for (const sentence of sentences) {
      assert.deepEqual(extractFacts(sentence, 20).map(({ text }) => text), [sentence]);
    }
  });
}

for (const [language, sentences] of Object.entries(LEFT_OUT)) {
  Deno.test(`what nobody asks for later is left out of ${language}`, () => {
    for (const sentence of sentences) assert.deepEqual(extractFacts(sentence, 20), [], sentence);
  });
}
